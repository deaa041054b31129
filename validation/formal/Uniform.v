(* docs/theorem-4-prime.md, steps 7 and 8: over a ball around a fixed f0 in the span of the landmarks
   the loss of all pairs exceeds that of the drawn ones by at most 2 r R2 / sqrt B in the mean, and
   by little more with high probability. McDiarmid's inequality and the contraction principle are
   premises. *)
From Coq Require Import Reals Lra List Bool Psatz.
From Formal Require Import Sums Space Losses Flow Radius Nystrom Draws.
Import ListNotations.
Open Scope R_scope.

Lemma mean_root {A : Type} (l : list A) X : l <> [] -> mean l X <= sqrt (mean l (fun i => X i * X i)).
Proof.
  intro N. set (m := mean l X). set (q := mean l (fun i => X i * X i)).
  assert (0 <= q - m * m) as V.
  { replace (q - m * m) with (mean l (fun i => (X i - m) * (X i - m))).
    - rewrite <- (mean_const l 0 N). apply mean_le; [exact N|]. intros. apply Rle_0_sqr.
    - transitivity (mean l (fun i => (X i * X i + - (2 * m) * X i) + (m * m) * 1)).
      + apply mean_ext. intros. ring.
      + rewrite (mean_lin l (fun i => X i * X i + - (2 * m) * X i) (fun _ => 1)).
        rewrite mean_lin, mean_const by exact N. fold q m. ring. }
  destruct (Rle_or_lt m 0) as [L|P]; [apply Rle_trans with (1 := L), sqrt_pos|].
  rewrite <- (sqrt_square m) by lra. apply sqrt_le_1_alt. lra.
Qed.

Lemma sup_exists {K : Type} (Theta : K -> Prop) (f : K -> R) b :
  (exists h, Theta h) -> (forall h, Theta h -> f h <= b) -> {m | is_sup Theta f m}.
Proof.
  intros Ex Bd. apply completeness.
  - exists b. intros y [h [Th ->]]. now apply Bd.
  - destruct Ex as [h Th]. exists (f h). now exists h.
Qed.

Lemma signed_bound {T : Type} (f : T -> R) b s D :
  (forall p, Rabs (f p) <= b) -> 0 <= b -> signed s D f <= INR (length D) * b.
Proof.
  intros Fb B0. revert D. induction s as [|c s IH]; intros [|p D]; simpl signed;
  try (apply Rmult_le_pos; [apply pos_INR|exact B0]). 
  change (length (p :: D)) with (S (length D)). rewrite S_INR. specialize (IH D). specialize (Fb p).
  pose proof (Rle_abs (f p)). pose proof (Rle_abs (- f p)) as N. rewrite Rabs_Ropp in N.
  destruct c; unfold sign; lra.
Qed.

Section Uniform.
Context {H : Space} {T : Type} (Delta : T -> H) (P : H -> H) (Lam : list T) (B : nat).
Hypothesis projection : forall x y, dot (P x) y = dot (P x) (P y).
Hypothesis some : Lam <> [].
Hypothesis B_pos : (0 < B)%nat.
Variables (Rp r : R) (f0 : H).
Hypothesis Rp_bound : forall p, norm (P (Delta p)) <= Rp.
Hypothesis r_pos : 0 <= r.

(* R2^2 = mean |P Delta|^2 *)
Definition R2 : R := sqrt (mean Lam (fun p => norm2 (P (Delta p)))).

Definition ball (h : H) : Prop := inside P h /\ norm h <= r.

(* The change of the hinge of a pair. *)
Definition psi (p : T) (x : R) : R := hinge (dot f0 (Delta p) + x) - hinge (dot f0 (Delta p)).
Definition phi (h : H) (p : T) : R := psi p (dot h (Delta p)).

Lemma psi_lipschitz p x y : Rabs (psi p x - psi p y) <= Rabs (x - y).
Proof.
  unfold psi, hinge, Rmax, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.

Lemma psi_zero p : psi p 0 = 0.
Proof. unfold psi. rewrite Rplus_0_r. ring. Qed.

Lemma Rp_pos (p : T) : 0 <= Rp.
Proof. apply Rle_trans with (2 := Rp_bound p), norm_pos. Qed.

Lemma phi_bound h p : ball h -> Rabs (phi h p) <= r * Rp.
Proof.
  intros [In_h Nh]. pose proof (psi_lipschitz p (dot h (Delta p)) 0) as L.
  rewrite psi_zero, !Rminus_0_r in L. apply Rle_trans with (1 := L). rewrite In_h.
  apply Rle_trans with (1 := cauchy_schwarz_abs _ _).
  apply Rmult_le_compat; try apply norm_pos; [exact Nh|apply Rp_bound].
Qed.

Lemma ball_zero : ball zero.
Proof. split; [intro y; now rewrite !dot_zero|rewrite norm_zero; exact r_pos]. Qed.

Lemma pair_exists : exists p : T, True.
Proof. destruct Lam as [|p l]; [tauto|now exists p]. Qed.

Lemma rRp : 0 <= r * Rp.
Proof. destruct pair_exists as [p _]. apply Rmult_le_pos; [exact r_pos|exact (Rp_pos p)]. Qed.

Lemma sum_phi_bound D h : ball h -> Rabs (sum D (phi h)) <= INR (length D) * (r * Rp).
Proof.
  intro Bh. apply Rle_trans with (1 := sum_abs _ _). rewrite <- sum_const. apply sum_le.
  intros. now apply phi_bound.
Qed.

Lemma mean_phi_bound D h : ball h -> Rabs (mean D (phi h)) <= r * Rp.
Proof.
  intro Bh. destruct D as [|p D].
  - unfold mean, Rdiv. simpl. rewrite Rmult_0_l, Rabs_R0. apply rRp.
  - unfold mean, Rdiv. pose proof (length_pos (p :: D) ltac:(discriminate)) as L.
    rewrite Rabs_mult, (Rabs_pos_eq (/ _)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with (INR (length (p :: D))); [exact L|].
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r, (Rmult_comm (r * Rp)) by lra. now apply sum_phi_bound.
Qed.

Lemma G_bound D h : ball h -> mean Lam (phi h) - mean D (phi h) <= r * Rp + r * Rp.
Proof.
  intro Bh. pose proof (mean_phi_bound Lam h Bh) as L1. pose proof (mean_phi_bound D h Bh) as L2.
  pose proof (Rle_abs (mean Lam (phi h))). pose proof (Rle_abs (- mean D (phi h))) as N.
  rewrite Rabs_Ropp in N. lra.
Qed.

Definition G (D : list T) : R :=
  proj1_sig (sup_exists ball (fun h => mean Lam (phi h) - mean D (phi h)) _
    (ex_intro _ zero ball_zero) (G_bound D)).

Lemma G_sup D : is_sup ball (fun h => mean Lam (phi h) - mean D (phi h)) (G D).
Proof. unfold G. apply proj2_sig. Qed.

Lemma W_bound D' D h : ball h ->
  sum D' (phi h) - sum D (phi h) <= INR (length D') * (r * Rp) + INR (length D) * (r * Rp).
Proof.
  intro Bh. pose proof (sum_phi_bound D' h Bh) as L1. pose proof (sum_phi_bound D h Bh) as L2.
  pose proof (Rle_abs (sum D' (phi h))). pose proof (Rle_abs (- sum D (phi h))) as N.
  rewrite Rabs_Ropp in N. lra.
Qed.

Definition W (D' D : list T) : R :=
  proj1_sig (sup_exists ball (fun h => sum D' (phi h) - sum D (phi h)) _
    (ex_intro _ zero ball_zero) (W_bound D' D)).

Lemma A_bound s D h : ball h -> signed s D (phi h) <= INR (length D) * (r * Rp).
Proof. intro Bh. apply signed_bound; [|apply rRp]. intro p. now apply phi_bound. Qed.

Definition A (s : list bool) (D : list T) : R :=
  proj1_sig (sup_exists ball (fun h => signed s D (phi h)) _
    (ex_intro _ zero ball_zero) (A_bound s D)).

Lemma A_sup s D : is_sup ball (fun h => signed s D (phi h)) (A s D).
Proof. unfold A. apply proj2_sig. Qed.

Hypothesis contraction : contraction_principle T H.

Lemma signed_ext (f h : T -> R) s D : (forall p, f p = h p) -> signed s D f = signed s D h.
Proof.
  intro E. revert D. induction s as [|b s IH]; intros [|p D]; simpl; try reflexivity.
  now rewrite E, IH.
Qed.

(* For one draw: the mean over signs, by contraction and Cauchy-Schwarz. *)
Lemma signs_mean D : length D = B ->
  (\sum_(s <- signs B) A s D) / 2 ^ B <= r * sqrt (\sum_(p <- D) norm2 (P (Delta p))).
Proof.
  intro Len. assert (0 < 2 ^ B) as TB by (apply pow_lt; lra).
  assert (signs B <> []) as Ns.
  { intro E. pose proof (signs_number B) as N. rewrite E in N. simpl in N. lra. }
  assert (INR (length (signs B)) = 2 ^ B) as Ls by (rewrite <- signs_number, sum_const; ring).
  apply Rle_trans with ((\sum_(s <- signs B) r * norm (signed_vector s D (fun p => P (Delta p)))) / 2 ^ B).
  - apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. rewrite <- Len.
    apply (contraction ball D (fun h p => dot h (Delta p)) psi (fun s => A s D)).
    + exact psi_lipschitz.
    + exact psi_zero.
    + intros s _. apply A_sup.
    + intros s h _ [In_h Nh].
      rewrite (signed_ext _ (fun p => dot h (P (Delta p)))) by (intro; apply In_h).
      rewrite <- dot_signed_vector. apply Rle_trans with (1 := cauchy_schwarz _ _).
      apply Rmult_le_compat_r; [apply norm_pos|exact Nh].
  - rewrite sum_scal. unfold Rdiv. rewrite Rmult_assoc. apply Rmult_le_compat_l; [exact r_pos|].
    pose proof (mean_root (signs B) (fun s => norm (signed_vector s D (fun p => P (Delta p)))) Ns) as M.
    unfold mean in M. rewrite Ls in M. apply Rle_trans with (1 := M). apply sqrt_le_1_alt. right.
    rewrite (sum_ext (signs B) _ (fun s => norm2 (signed_vector s D (fun p => P (Delta p)))))
      by (intros; apply norm_square).
    rewrite <- Len, signs_norm2. field. rewrite Len. lra.
Qed.

Lemma R2_square : R2 * R2 = mean Lam (fun p => norm2 (P (Delta p))).
Proof.
  unfold R2. apply sqrt_sqrt. rewrite <- (mean_const Lam 0 some). apply mean_le; [exact some|].
  intros. apply dot_pos.
Qed.

Theorem expected_supremum : expect Lam B G <= 2 * r * R2 / sqrt (INR B).
Proof.
  assert (0 < INR B) as Bp by now apply lt_0_INR.
  assert (0 < sqrt (INR B)) as Sb by now apply sqrt_lt_R0.
  apply Rle_trans with (1 := symmetrisation Lam ball phi B some B_pos G W A (fun D _ => G_sup D)
    (fun D' D _ _ => proj2_sig (sup_exists ball _ _ _ (W_bound D' D))) (fun s D _ _ => A_sup s D)).
  apply Rle_trans with (2 / INR B * (r * (sqrt (INR B) * R2))).
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
    apply Rle_trans with (expect Lam B (fun D => r * sqrt (\sum_(p <- D) norm2 (P (Delta p))))).
    + apply expect_le; [exact some|]. intros D HD. apply signs_mean. apply (draws_are Lam B D HD).
    + rewrite expect_scal. apply Rmult_le_compat_l; [exact r_pos|].
      apply Rle_trans with (1 := expect_root Lam some B _). unfold R2. rewrite <- sqrt_mult_alt by lra.
      apply sqrt_le_1_alt. right. rewrite <- expect_sum by exact some. unfold expect. f_equal.
      apply sum_ext. intros D _. apply sqrt_sqrt. apply sum_nonneg. intros. apply dot_pos.
  - right. rewrite <- (sqrt_sqrt (INR B)) at 1 by lra. field. lra.
Qed.

Hypothesis mcdiarmid : McDiarmid Lam.
Variable width : R.
Hypothesis width_bound : forall h p p', ball h -> phi h p - phi h p' <= width.
Hypothesis width_pos : 0 <= width.

Lemma mean_changed (f : T -> R) l p p' l' : length (l ++ p :: l') = B ->
  mean (l ++ p' :: l') f - mean (l ++ p :: l') f = (f p' - f p) / INR B.
Proof.
  intro L. unfold mean. assert (length (l ++ p' :: l') = B) as L' by (rewrite <- L, !app_length; reflexivity).
  rewrite L, L', !sum_app, !sum_cons. unfold Rdiv. ring.
Qed.

Theorem uniform_deviation delta : 0 < delta < 1 ->
  prob Lam B (above G (2 * r * R2 / sqrt (INR B) + width / INR B * sqrt (INR B * ln (1 / delta) / 2))) <= delta.
Proof.
  intro Dl. assert (0 < INR B) as Bp by now apply lt_0_INR.
  assert (0 <= width / INR B) as C0
    by (apply Rmult_le_pos; [exact width_pos|left; now apply Rinv_0_lt_compat]).
  pose proof (mcdiarmid B G (width / INR B) delta B_pos C0 Dl) as M.
  apply Rle_trans with (2 := M ltac:(
    intros l p p' l' H1 H2; apply Rplus_le_reg_r with (G (l ++ p' :: l'));
    ring_simplify; apply (G_sup (l ++ p :: l')); intros y [h [Bh ->]];
    pose proof (proj1 (G_sup (l ++ p' :: l')) _ (ex_intro _ h (conj Bh eq_refl))) as Up;
    pose proof (mean_changed (phi h) l p p' l' (proj1 (draws_are Lam B _ H1))) as Ch;
    assert ((phi h p' - phi h p) / INR B <= width / INR B)
      by (apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|now apply width_bound]);
    lra)).
  unfold prob. apply expect_le; [exact some|]. intros D _. unfold above.
  pose proof expected_supremum. destruct Rlt_dec, Rlt_dec; simpl; lra.
Qed.
End Uniform.
