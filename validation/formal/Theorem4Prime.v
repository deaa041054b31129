(* docs/theorem-4-prime.md, (I) and (II), over the draw of B pairs. Premises by name: McDiarmid's
   inequality, the contraction principle, and optimal dual points of the two problems on all pairs. *)
From Coq Require Import Reals Lra List Bool Psatz.
From Formal Require Import Sums Space Losses Flow Radius Nystrom Draws Uniform.
Import ListNotations.
Open Scope R_scope.

Definition holds (a b : R) : bool := if Rle_dec a b then true else false.

Section Prime.
Context {H : Space} {T : Type} (Delta : T -> H) (lam : R) (P : H -> H) (Lam : list T) (B : nat).
Hypothesis lam_pos : 0 < lam.
Hypothesis projection : forall x y, dot (P x) y = dot (P x) (P y).
Hypothesis some : Lam <> [].
Hypothesis B_pos : (0 < B)%nat.

Variables (f_hat f_P : H) (alpha_hat alpha_P : T -> R).
Hypothesis hat_box : box alpha_hat.
Hypothesis hat_optimal : F Delta lam Lam f_hat = D_K Delta lam Lam alpha_hat.
Hypothesis P_inside : inside P f_P.
Hypothesis P_box : box alpha_P.
Hypothesis P_optimal : F Delta lam Lam f_P = D_P Delta lam P Lam alpha_P.

(* f~_B, for each draw a minimiser over the span of the landmarks. *)
Variable f_B : list T -> H.
Hypothesis B_minimises : forall D, In D (draws Lam B) -> minimiser_in (U Delta D) lam (inside P) (f_B D).

Variables (R Rp delta : R).
Hypothesis R_bound : forall p, norm (Delta p) <= R.
Hypothesis Rp_bound : forall p, norm (P (Delta p)) <= Rp.
Hypothesis delta_range : 0 < delta < 1.

Hypothesis mcdiarmid : McDiarmid Lam.
Hypothesis contraction : contraction_principle T H.

Let q : Rdefinitions.R := error_form Delta P Lam alpha_P.
Let root_B : Rdefinitions.R := sqrt (INR B).
Let R2 : Rdefinitions.R := Uniform.R2 Delta P Lam.
Let l : Rdefinitions.R := sqrt (2 * ln (2 / delta)).
Let z : Rdefinitions.R := (R2 + Rp * l) / root_B.
Let Sp : Rdefinitions.R := Rmin (/ sqrt lam) (Rp / lam).
Let Z := Z_of Delta lam P f_P alpha_P.

Lemma Bp : 0 < INR B.
Proof. now apply lt_0_INR. Qed.

Lemma root_pos : 0 < root_B.
Proof. apply sqrt_lt_R0, Bp. Qed.

Lemma root_square : root_B * root_B = INR B.
Proof. apply sqrt_sqrt. pose proof Bp. lra. Qed.

Lemma Rp_nonneg : 0 <= Rp.
Proof. destruct Lam as [|p r]; [tauto|]. apply Rle_trans with (2 := Rp_bound p), norm_pos. Qed.

Lemma drawn D : In D (draws Lam B) -> D <> [] /\ (forall p, In p D -> In p Lam).
Proof.
  intro HD. destruct (draws_are Lam B D HD) as [Len In_l]. split; [|exact In_l].
  intros ->. simpl in Len. rewrite <- Len in B_pos. inversion B_pos.
Qed.

Lemma log_pos c : 1 <= c -> 0 < ln (c / delta) \/ ln (c / delta) = 0 /\ False.
Proof.
  intro C. left. rewrite <- ln_1. apply ln_increasing; [lra|].
  apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(* sqrt(B x / 2) / B = sqrt(2 x) / (2 sqrt B) *)
Lemma deviation_term c x : 0 <= x -> c / INR B * sqrt (INR B * x / 2) = c * sqrt (2 * x) / (2 * root_B).
Proof.
  intro X. pose proof root_pos as Rt. pose proof Bp.
  replace (INR B * x / 2) with (INR B * (2 * x / 4)) by field.
  rewrite sqrt_mult_alt by lra. fold root_B.
  replace (sqrt (2 * x / 4)) with (sqrt (2 * x) / 2).
  - rewrite <- root_square. field. lra.
  - rewrite sqrt_div_alt by lra. replace 4 with (2 * 2) by ring. rewrite sqrt_square by lra. reflexivity.
Qed.

(* Step 6. *)
Let step (p : T) : H := sub (scal (alpha_P p) (P (Delta p))) (scal lam f_P).

Lemma dot_P_g D y : dot (P (g Delta D alpha_P)) y = mean D (fun p => alpha_P p * dot (P (Delta p)) y).
Proof.
  rewrite self_adjoint, dot_comm, dot_g by exact projection. apply mean_ext. intros p _.
  now rewrite (self_adjoint P projection (Delta p) y), (dot_comm _ (Delta p)).
Qed.

Lemma step_centred y : \sum_(p <- Lam) dot (step p) y = 0.
Proof.
  pose proof (gradient_zero Delta lam lam_pos P Lam some f_P alpha_P P_inside P_box P_optimal y) as Gz.
  rewrite dot_P_g in Gz. unfold mean in Gz. pose proof (length_pos Lam some) as L.
  unfold step. rewrite (sum_ext Lam _ (fun p => alpha_P p * dot (P (Delta p)) y - lam * dot f_P y))
    by (intros; dots; ring).
  rewrite sum_sub, sum_const, Gz. field. lra.
Qed.

Lemma Z_is D : length D = B -> Z D = / INR B * norm (vsum D step).
Proof.
  intro Len. pose proof Bp. unfold Z, Z_of.
  rewrite <- (Rabs_pos_eq (/ INR B)) by (left; now apply Rinv_0_lt_compat). rewrite <- norm_scal.
  apply norm_ext. intro y. rewrite dot_sub, dot_P_g, dot_scal, (dot_scal _ (/ INR B)), dot_vsum.
  unfold mean, step. rewrite Len.
  rewrite (sum_ext D (fun i => dot (sub _ _) y) (fun p => alpha_P p * dot (P (Delta p)) y - lam * dot f_P y))
    by (intros; dots; ring).
  rewrite sum_sub, sum_const, Len. field. lra.
Qed.

Lemma expected_Z : expect Lam B Z <= R2 / root_B.
Proof.
  pose proof Bp. pose proof root_pos as Rt.
  apply Rle_trans with (1 := expect_root Lam some B Z).
  assert (0 <= R2) as R20 by apply sqrt_pos.
  rewrite <- (sqrt_square (R2 / root_B)) by (apply Rmult_le_pos; [exact R20|left; now apply Rinv_0_lt_compat]).
  apply sqrt_le_1_alt.
  replace (R2 / root_B * (R2 / root_B)) with (R2 * R2 / INR B) by (rewrite <- root_square; field; lra).
  unfold R2. rewrite R2_square by exact some.
  assert (expect Lam B (fun D => Z D * Z D) = / INR B * / INR B * expect Lam B (fun D => norm2 (vsum D step))) as E.
  { rewrite <- expect_scal. unfold expect. f_equal. apply sum_ext. intros D HD.
    rewrite Z_is by apply (draws_are Lam B D HD). rewrite <- norm_square. ring. }
  rewrite E, (expect_norm2 Lam some step B step_centred).
  assert (mean Lam (fun p => norm2 (step p)) <= mean Lam (fun p => norm2 (P (Delta p)))) as M.
  { apply Rle_trans with (mean Lam (fun p => norm2 (P (Delta p)) + -2 * dot (step p) (scal lam f_P))).
    - apply mean_le; [exact some|]. intros p _. specialize (P_box p).
      assert (norm2 (step p) = alpha_P p * alpha_P p * norm2 (P (Delta p)) - norm2 (scal lam f_P)
        - 2 * dot (step p) (scal lam f_P)) as E2.
      { unfold step. dots. rewrite (dot_comm _ f_P (P (Delta p))). ring. }
      pose proof (dot_pos _ (P (Delta p))) as D0. pose proof (dot_pos _ (scal lam f_P)) as D1.
      unfold norm2 in *. rewrite E2.
      assert (alpha_P p * alpha_P p <= 1) by nra.
      assert (alpha_P p * alpha_P p * dot (P (Delta p)) (P (Delta p)) <= 1 * dot (P (Delta p)) (P (Delta p)))
        by (apply Rmult_le_compat_r; assumption). lra.
    - rewrite mean_lin. unfold mean at 2. rewrite step_centred. unfold Rdiv. lra. }
  replace (/ INR B * / INR B * (INR B * mean Lam (fun p => norm2 (step p))))
    with (mean Lam (fun p => norm2 (step p)) / INR B) by (field; lra).
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|exact M].
Qed.

Lemma Z_changed a p p' b : In (a ++ p :: b) (draws Lam B) -> In (a ++ p' :: b) (draws Lam B) ->
  Z (a ++ p :: b) - Z (a ++ p' :: b) <= 2 * Rp / INR B.
Proof.
  intros H1 H2. pose proof Bp.
  rewrite !Z_is by (apply (draws_are Lam B); assumption). rewrite <- Rmult_minus_distr_l.
  apply Rmult_le_reg_l with (INR B); [assumption|].
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  replace (INR B * (2 * Rp / INR B)) with (2 * Rp) by (field; lra).
  set (x := vsum (a ++ p :: b) step). set (y := vsum (a ++ p' :: b) step).
  assert (norm x <= norm (sub x y) + norm y) as Tri.
  { rewrite (norm_ext x (add (sub x y) y)) by (intro; dots; ring). apply norm_triangle. }
  rewrite (norm_ext (sub x y) (sub (scal (alpha_P p) (P (Delta p))) (scal (alpha_P p') (P (Delta p'))))) in Tri.
  2: { intro w. unfold x, y, step. rewrite dot_sub, !dot_vsum, !sum_app, !sum_cons. dots. ring. }
  assert (forall r, norm (scal (alpha_P r) (P (Delta r))) <= Rp) as One.
  { intro r. rewrite norm_scal, Rabs_pos_eq by apply P_box. specialize (P_box r). specialize (Rp_bound r).
    pose proof (norm_pos (P (Delta r))). nra. }
  pose proof (One p). pose proof (One p').
  assert (norm (sub (scal (alpha_P p) (P (Delta p))) (scal (alpha_P p') (P (Delta p')))) <= Rp + Rp).
  { unfold sub at 1. apply Rle_trans with (1 := norm_triangle _ _).
    rewrite (norm_scal (-1)), Rabs_left by lra. lra. }
  lra.
Qed.

(* (iii) *)
Theorem Z_small : prob Lam B (above Z z) <= delta / 2.
Proof.
  pose proof Bp. pose proof Rp_nonneg as R0. pose proof root_pos as Rt.
  assert (0 <= 2 * Rp / INR B) as C0 by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  pose proof (mcdiarmid B Z (2 * Rp / INR B) (delta / 2) B_pos C0 ltac:(lra) Z_changed) as M.
  replace (1 / (delta / 2)) with (2 / delta) in M by (field; lra).
  assert (0 <= ln (2 / delta)) as Ln by (destruct (log_pos 2 ltac:(lra)); lra).
  rewrite deviation_term in M by exact Ln. fold l in M.
  apply Rle_trans with (2 := M). apply expect_le; [exact some|]. intros D _. unfold above.
  pose proof expected_Z as E. 
  assert (z = R2 / root_B + 2 * Rp * l / (2 * root_B)) as Ez by (unfold z; field; lra).
  destruct Rlt_dec, Rlt_dec; simpl; lra.
Qed.

Lemma inside_zero : inside P zero.
Proof. intro y. now rewrite !dot_zero. Qed.

(* Step 2: norms of minimisers over the span. *)
Theorem norm_of_minimiser D f : D <> [] -> minimiser_in (U Delta D) lam (inside P) f -> norm f <= Sp.
Proof.
  intros N M. pose proof (strong_convexity_in (U Delta D) lam lam_pos (U_convex Delta D) (inside P) f zero
    (inside_segments P) M inside_zero) as S. unfold objective in S.
  assert (norm2 (sub zero f) = norm2 f) as E by (dots; ring). rewrite E in S.
  assert (norm2 (@zero H) = 0) as Z0 by apply dot_zero. rewrite Z0 in S.
  assert (U Delta D zero = 1) as U1.
  { rewrite <- (mean_const D 1 N). unfold U. apply mean_ext. intros p _. rewrite dot_zero.
    unfold hinge. rewrite Rmax_right; lra. }
  pose proof (U_nonneg Delta D f N) as U0. pose proof (norm_square f) as Sq. pose proof (norm_pos f) as N0.
  assert (0 < sqrt lam) as Sl by now apply sqrt_lt_R0.
  unfold Sp. apply Rmin_glb.
  - apply norm_le_of_square; [left; now apply Rinv_0_lt_compat|].
    rewrite <- Rinv_mult, sqrt_sqrt by lra.
    apply Rmult_le_reg_l with lam; [exact lam_pos|]. rewrite Rinv_r; lra.
  - assert (Rabs (U Delta D zero - U Delta D f) <= Rp * norm f) as Lip.
    { apply U_lipschitz; [exact N|]. intros p _. rewrite dot_sub, dot_zero, (proj1 M).
      rewrite Rminus_0_l, Rabs_Ropp. apply Rle_trans with (1 := cauchy_schwarz_abs _ _).
      rewrite Rmult_comm. apply Rmult_le_compat_r; [exact N0|apply Rp_bound]. }
    pose proof (Rle_abs (U Delta D zero - U Delta D f)).
    apply Rmult_le_reg_l with lam; [exact lam_pos|].
    replace (lam * (Rp / lam)) with Rp by (field; lra).
    destruct (Req_dec (norm f) 0) as [E0|E0]; [rewrite E0, Rmult_0_r; exact Rp_nonneg|].
    rewrite <- Sq in S. apply Rmult_le_reg_r with (norm f); lra.
Qed.

Lemma prob_mono (A A' : list T -> bool) :
  (forall D, In D (draws Lam B) -> A D = true -> A' D = true) -> prob Lam B A <= prob Lam B A'.
Proof.
  intro M. apply expect_le; [exact some|]. intros D HD. specialize (M D HD).
  destruct (A D), (A' D); simpl; try lra; discriminate (M eq_refl).
Qed.

Definition excess (D : list T) : Rdefinitions.R := F Delta lam Lam (f_B D) - F Delta lam Lam f_hat.

Definition fast : Rdefinitions.R := (R2 + Rp * l) * (2 * R2 + Rp * l) / (lam * INR B).

Lemma z_pos : 0 <= z.
Proof.
  pose proof Rp_nonneg. pose proof root_pos. apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
  apply Rplus_le_le_0_compat; [apply sqrt_pos|]. apply Rmult_le_pos; [assumption|apply sqrt_pos].
Qed.

Lemma part_I_fast : 1 - delta <= prob Lam B (fun D => holds (excess D) (fast + q / (2 * lam))).
Proof.
  pose proof Bp. pose proof Rp_nonneg as R0. pose proof root_pos as Rt. pose proof z_pos as Z0.
  set (r := z / lam). assert (0 <= r) as Hr by (apply Rmult_le_pos; [exact Z0|left; now apply Rinv_0_lt_compat]).
  set (Gr := Uniform.G Delta P Lam some Rp r f_P Rp_bound Hr).
  assert (0 <= 2 * (r * Rp)) as W0 by (apply Rmult_le_pos; [lra|now apply Rmult_le_pos]).
  assert (forall h p p', ball P r h -> phi Delta f_P h p - phi Delta f_P h p' <= 2 * (r * Rp)) as Wd.
  { intros h p p' Bh. pose proof (phi_bound Delta P Rp r f_P Rp_bound h p Bh) as B1.
    pose proof (phi_bound Delta P Rp r f_P Rp_bound h p' Bh) as B2.
    pose proof (Rle_abs (phi Delta f_P h p)). pose proof (Rle_abs (- phi Delta f_P h p')) as N.
    rewrite Rabs_Ropp in N. lra. }
  pose proof (uniform_deviation Delta P Lam B some B_pos Rp r f_P Rp_bound Hr contraction mcdiarmid
    (2 * (r * Rp)) Wd W0 (delta / 2) ltac:(lra)) as Dev.
  fold Gr in Dev. replace (1 / (delta / 2)) with (2 / delta) in Dev by (field; lra).
  assert (0 <= ln (2 / delta)) as Ln by (destruct (log_pos 2 ltac:(lra)); lra).
  rewrite deviation_term in Dev by exact Ln. fold l R2 root_B in Dev.
  set (b := 2 * r * R2 / root_B + 2 * (r * Rp) * l / (2 * root_B)) in Dev.
  assert (b = fast) as Eb.
  { unfold b, fast, r, z. rewrite <- root_square. field. lra. }
  pose proof (prob_both Lam some B (at_most Z z) (at_most Gr b) (delta / 2) (delta / 2)) as Both.
  rewrite !prob_at_most in Both by exact some. specialize (Both Z_small Dev).
  replace (delta / 2 + delta / 2) with delta in Both by field.
  apply Rle_trans with (1 := Both). apply prob_mono. intros D HD A. apply andb_prop in A.
  destruct A as [A1 A2]. apply at_most_true in A1. apply at_most_true in A2.
  unfold holds. destruct Rle_dec as [|N]; [reflexivity|exfalso; apply N].
  rewrite <- Eb. apply Rle_trans with (Gr D + q / (2 * lam)); [|lra].
  apply (excess_loss Delta lam lam_pos P projection Lam some f_hat f_P alpha_hat alpha_P hat_box hat_optimal
    P_inside P_box P_optimal D (f_B D) (drawn D HD) (B_minimises D HD) z (Gr D) A1).
  intros h In_h Nh.
  pose proof (proj1 (Uniform.G_sup Delta P Lam some Rp r f_P Rp_bound Hr D) _
    (ex_intro _ h (conj (conj In_h Nh) eq_refl))) as Up. fold Gr in Up.
  apply Rle_trans with (2 := Up). right. unfold deviation.
  assert (forall E, E <> [] -> mean E (phi Delta f_P h) = U Delta E (add f_P h) - U Delta E f_P) as Mn.
  { intros E _. unfold U. replace (mean E (fun p => hinge (dot (add f_P h) (Delta p))) - mean E (fun p => hinge (dot f_P (Delta p))))
      with (mean E (fun p => hinge (dot (add f_P h) (Delta p))) + -1 * mean E (fun p => hinge (dot f_P (Delta p)))) by ring.
    rewrite <- mean_lin. apply mean_ext. intros p _. unfold phi, psi. rewrite dot_add. ring. }
  rewrite !Mn by (try exact some; apply (drawn D HD)). ring.
Qed.

(* One-sided Hoeffding, from McDiarmid, at a function that is fixed before the draw. *)
Lemma hoeffding (f : T -> Rdefinitions.R) width e : 0 <= width -> 0 < e < 1 ->
  (forall p p', f p - f p' <= width) ->
  prob Lam B (above (fun D => mean D f) (mean Lam f + width / INR B * sqrt (INR B * ln (1 / e) / 2))) <= e.
Proof.
  intros W0 E Wd. pose proof Bp.
  assert (expect Lam B (fun D => mean D f) = mean Lam f) as Ex.
  { transitivity (expect Lam B (fun D => / INR B * sum D f)).
    - unfold expect. f_equal. apply sum_ext. intros D HD. unfold mean.
      rewrite (proj1 (draws_are Lam B D HD)). unfold Rdiv. ring.
    - rewrite expect_scal, expect_sum by exact some. field. lra. }
  pose proof (mcdiarmid B (fun D => mean D f) (width / INR B) e B_pos
    ltac:(apply Rmult_le_pos; [exact W0|left; now apply Rinv_0_lt_compat]) E) as M.
  rewrite Ex in M. apply M. intros a p p' b H1 _.
  pose proof (mean_changed B f a p p' b (proj1 (draws_are Lam B _ H1))) as C.
  apply Rle_trans with ((f p - f p') / INR B).
  - right. replace (mean (a ++ p :: b) f - mean (a ++ p' :: b) f)
      with (- (mean (a ++ p' :: b) f - mean (a ++ p :: b) f)) by ring. rewrite C. field. lra.
  - apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|apply Wd].
Qed.

(* The hinge of a function of norm s in the span is in [0, 1 + Rp s]. *)
Lemma hinge_range f s p : inside P f -> norm f <= s -> 0 <= hinge (dot f (Delta p)) <= 1 + Rp * s.
Proof.
  intros In_f Nf. split; [apply hinge_nonneg|]. pose proof (cauchy_schwarz_lower f (P (Delta p))) as C.
  rewrite <- In_f in C. pose proof (Rp_bound p). pose proof (norm_pos f). pose proof (norm_pos (P (Delta p))).
  pose proof Rp_nonneg. assert (norm f * norm (P (Delta p)) <= s * Rp) by (apply Rmult_le_compat; assumption).
  unfold hinge. apply Rmax_lub; nra.
Qed.

Definition H_term : Rdefinitions.R := (1 + Rp * norm f_P) * sqrt (ln (4 / delta) / (2 * INR B)).

Lemma hoeffding_term c x : 0 <= x -> c / INR B * sqrt (INR B * x / 2) = c * sqrt (x / (2 * INR B)).
Proof.
  intro X. pose proof Bp. replace (INR B * x / 2) with (INR B * INR B * (x / (2 * INR B))) by (field; lra).
  rewrite sqrt_mult_alt by nra. rewrite sqrt_square by lra. field. lra.
Qed.

Lemma deviation_at_f_P : 1 - prob Lam B (fun D => at_most (fun D => U Delta D f_P) (U Delta Lam f_P + H_term) D
    && at_most (fun D => mean D (fun p => - hinge (dot f_P (Delta p))))
               (mean Lam (fun p => - hinge (dot f_P (Delta p))) + H_term) D) <= delta / 2.
Proof.
  pose proof Rp_nonneg as R0. pose proof (norm_pos f_P) as N0.
  assert (0 <= 1 + Rp * norm f_P) as W0 by nra.
  assert (0 <= ln (4 / delta)) as Ln by (destruct (log_pos 4 ltac:(lra)); lra).
  pose proof (fun p => hinge_range f_P (norm f_P) p P_inside (Rle_refl _)) as Rg.
  pose proof (hoeffding (fun p => hinge (dot f_P (Delta p))) (1 + Rp * norm f_P) (delta / 4) W0 ltac:(lra)
    ltac:(intros p p'; pose proof (Rg p); pose proof (Rg p'); lra)) as H1.
  pose proof (hoeffding (fun p => - hinge (dot f_P (Delta p))) (1 + Rp * norm f_P) (delta / 4) W0 ltac:(lra)
    ltac:(intros p p'; pose proof (Rg p); pose proof (Rg p'); lra)) as H2.
  replace (1 / (delta / 4)) with (4 / delta) in H1, H2 by (field; lra).
  rewrite hoeffding_term in H1, H2 by exact Ln. fold H_term in H1, H2.
  rewrite <- prob_at_most in H1, H2 by exact some.
  pose proof (prob_both Lam some B _ _ _ _ H1 H2) as Both. unfold U. lra.
Qed.

(* Step 8, over the ball of radius Sp. *)
Definition slow : Rdefinitions.R :=
  2 * Sp * R2 / root_B + 2 * ((1 + Rp * Sp) * sqrt (ln (2 / delta) / (2 * INR B))).

Lemma part_I_slow : 1 - delta <= prob Lam B (fun D => holds (excess D) (slow + q / (2 * lam))).
Proof.
  pose proof Bp. pose proof Rp_nonneg as R0. pose proof root_pos as Rt.
  assert (norm f_P <= Sp) as NP.
  { apply (norm_of_minimiser Lam f_P some).
    exact (P_minimises Delta lam lam_pos P Lam some f_P alpha_P P_inside P_box P_optimal). }
  assert (0 <= Sp) as Hr by (apply Rle_trans with (2 := NP), norm_pos).
  assert (0 <= 1 + Rp * Sp) as W0 by nra.
  assert (0 <= ln (2 / delta)) as Ln by (destruct (log_pos 2 ltac:(lra)); lra).
  set (Gs := Uniform.G Delta P Lam some Rp Sp zero Rp_bound Hr).
  assert (forall h p, phi Delta zero h p = hinge (dot h (Delta p)) - 1) as Ph.
  { intros h p. unfold phi, psi. rewrite dot_zero, Rplus_0_l. f_equal. unfold hinge. rewrite Rmax_right; lra. }
  assert (forall h p p', ball P Sp h -> phi Delta zero h p - phi Delta zero h p' <= 1 + Rp * Sp) as Wd.
  { intros h p p' [In_h Nh]. rewrite !Ph. pose proof (hinge_range h Sp p In_h Nh).
    pose proof (hinge_range h Sp p' In_h Nh). lra. }
  pose proof (uniform_deviation Delta P Lam B some B_pos Rp Sp zero Rp_bound Hr contraction mcdiarmid
    (1 + Rp * Sp) Wd W0 (delta / 2) ltac:(lra)) as Dev.
  pose proof (hoeffding (fun p => hinge (dot f_P (Delta p))) (1 + Rp * Sp) (delta / 2) W0 ltac:(lra)
    ltac:(intros p p'; pose proof (hinge_range f_P Sp p P_inside NP);
          pose proof (hinge_range f_P Sp p' P_inside NP); lra)) as Hf.
  fold Gs in Dev. replace (1 / (delta / 2)) with (2 / delta) in Dev, Hf by (field; lra).
  rewrite hoeffding_term in Dev, Hf by exact Ln. fold R2 root_B in Dev.
  rewrite <- prob_at_most in Dev, Hf by exact some.
  pose proof (prob_both Lam some B _ _ _ _ Dev Hf) as Both.
  replace (delta / 2 + delta / 2) with delta in Both by field.
  apply Rle_trans with (1 := Both). apply prob_mono. intros D HD A. apply andb_prop in A.
  destruct A as [A1 A2]. apply at_most_true in A1. apply at_most_true in A2.
  unfold holds. destruct Rle_dec as [|N]; [reflexivity|exfalso; apply N].
  pose proof (B_minimises D HD) as Bm. pose proof (norm_of_minimiser D (f_B D) (proj1 (drawn D HD)) Bm) as NB.
  pose proof (proj1 (Uniform.G_sup Delta P Lam some Rp Sp zero Rp_bound Hr D) _
    (ex_intro _ (f_B D) (conj (conj (proj1 Bm) NB) eq_refl))) as Up. fold Gs in Up.
  assert (forall E, E <> [] -> mean E (phi Delta zero (f_B D)) = U Delta E (f_B D) - 1) as Mn.
  { intros E Ne. rewrite (mean_ext E _ (fun p => hinge (dot (f_B D) (Delta p)) + -1 * 1)) by (intros; rewrite Ph; ring).
    rewrite (mean_lin E (fun p => hinge (dot (f_B D) (Delta p))) (fun _ => 1) (-1)), mean_const by exact Ne.
    unfold U. ring. }
  rewrite !Mn in Up by (try exact some; apply (drawn D HD)).
  pose proof (excess_is_a_difference Delta lam P Lam f_P P_inside D (f_B D) Bm) as Ex.
  destruct (theorem_A Delta lam lam_pos P projection Lam some f_hat f_P alpha_hat alpha_P hat_box hat_optimal
    P_inside P_box P_optimal) as [[_ Ny] _]. fold q in Ny.
  fold (U Delta D f_P) in A2. fold (U Delta Lam f_P) in A2. unfold excess, slow. lra.
Qed.

(* Theorem 4' (I). *)
Theorem theorem_I :
  1 - delta <= prob Lam B (fun D => holds (excess D) (Rmin fast slow + q / (2 * lam))).
Proof.
  unfold Rmin. destruct Rle_dec; [exact part_I_fast|exact part_I_slow].
Qed.

(* Theorem 4' (II). *)
Theorem theorem_II :
  1 - delta <= prob Lam B (fun D => holds (Rabs (U Delta Lam f_hat - U Delta D (f_B D)))
    (Rmin (H_term + Rmax (z * z) q / (2 * lam) + (norm f_hat + norm (f_B D)) * (z + sqrt q) / 2)
          (H_term + R * norm (sub f_hat f_P) + Rp * z / lam))).
Proof.
  pose proof Z_small as Zs. rewrite <- prob_at_most in Zs by exact some.
  pose proof (prob_both Lam some B _ _ _ _ Zs deviation_at_f_P) as Both.
  replace (delta / 2 + delta / 2) with delta in Both by field.
  apply Rle_trans with (1 := Both). apply prob_mono. intros D HD A. apply andb_prop in A.
  destruct A as [A1 A2]. apply andb_prop in A2. destruct A2 as [A2 A3].
  apply at_most_true in A1. apply at_most_true in A2. apply at_most_true in A3.
  unfold holds. destruct Rle_dec as [|N]; [reflexivity|exfalso; apply N].
  apply (losses_differ Delta lam lam_pos P projection Lam some f_hat f_P alpha_hat alpha_P hat_box
    hat_optimal P_inside P_box P_optimal D (f_B D) (drawn D HD) (B_minimises D HD) z H_term R Rp A1);
    [|intros; apply R_bound|intros; apply Rp_bound].
  assert (forall E, mean E (fun p => - hinge (dot f_P (Delta p))) = - U Delta E f_P) as Ng.
  { intro E. unfold U, mean. rewrite sum_opp. unfold Rdiv. ring. }
  rewrite !Ng in A3. apply Rabs_le. split; lra.
Qed.
End Prime.
