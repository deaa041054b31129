(* docs/theorem-4-prime.md, (A) and steps 2, 3, 5: everything that holds for each draw, without
   probability. The pairs are a list Lam; Delta p = k_i - k_j; P is the projection on the span of the
   landmarks; E = K - K~ is the Gram matrix of k_i - P k_i, so u'E u = |g - P g|^2. *)
From Coq Require Import Reals Lra List Psatz.
From Formal Require Import Sums Space Minorant Losses PairLosses Radius.
Import ListNotations.
Open Scope R_scope.

Section Setting.
Context {H : Space} {T : Type} (Delta : T -> H) (lam : R).
Hypothesis lam_pos : 0 < lam.

Definition mean (D : list T) (f : T -> R) : R := sum D f / INR (length D).

(* U over the pairs of D, and the objective. *)
Definition U (D : list T) (f : H) : R := mean D (fun p => hinge (dot f (Delta p))).
Definition F (D : list T) (f : H) : R := objective (U D) lam f.

(* g = mean of alpha Delta *)
Definition g (D : list T) (alpha : T -> R) : H :=
  scal (/ INR (length D)) (vsum D (fun p => scal (alpha p) (Delta p))).

Definition box (alpha : T -> R) : Prop := forall p, 0 <= alpha p <= 1.

Lemma length_pos (D : list T) : D <> [] -> 0 < INR (length D).
Proof. intro N. apply lt_0_INR. destruct D; [tauto|simpl; apply Nat.lt_0_succ]. Qed.

Lemma mean_le D f h : D <> [] -> (forall p, In p D -> f p <= h p) -> mean D f <= mean D h.
Proof.
  intros N L. unfold mean. apply Rmult_le_compat_r; [|now apply sum_le].
  left. now apply Rinv_0_lt_compat, length_pos.
Qed.

Lemma mean_lin D f h c : mean D (fun p => f p + c * h p) = mean D f + c * mean D h.
Proof. unfold mean. rewrite sum_add, sum_scal. unfold Rdiv. ring. Qed.

Lemma mean_const D c : D <> [] -> mean D (fun _ => c) = c.
Proof. intro N. unfold mean. rewrite sum_const. field. pose proof (length_pos D N). lra. Qed.

Lemma dot_g D alpha f : dot f (g D alpha) = mean D (fun p => alpha p * dot f (Delta p)).
Proof.
  unfold g, mean. rewrite dot_scal_r, dot_vsum_r. unfold Rdiv. rewrite Rmult_comm. f_equal.
  apply sum_ext. intros. apply dot_scal_r.
Qed.

Lemma U_ext D f h : (forall y, dot f y = dot h y) -> U D f = U D h.
Proof. intro E. unfold U, mean. f_equal. apply sum_ext. intros. now rewrite E. Qed.

Lemma U_convex D : convex (U D).
Proof.
  intros t f h T01. unfold U, mean. unfold Rdiv. rewrite <- !Rmult_assoc, <- Rmult_plus_distr_r.
  destruct D as [|p D]; [simpl; lra|].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, length_pos; discriminate|].
  rewrite <- !sum_scal, <- sum_add. apply sum_le. intros q _. unfold mix. dots.
  now apply convex_hinge.
Qed.

Lemma U_nonneg D f : D <> [] -> 0 <= U D f.
Proof.
  intro N. rewrite <- (mean_const D 0 N). apply mean_le; [exact N|]. intros. apply hinge_nonneg.
Qed.

Lemma U_lipschitz D f h b : D <> [] -> (forall p, In p D -> Rabs (dot (sub f h) (Delta p)) <= b) ->
  Rabs (U D f - U D h) <= b.
Proof.
  intros N L. assert (forall f h, (forall p, In p D -> Rabs (dot (sub f h) (Delta p)) <= b) ->
    U D f - U D h <= b) as Half.
  { clear f h L. intros f h L. apply Rle_trans with (mean D (fun _ => b)); [|rewrite mean_const by exact N; lra].
    replace (U D f - U D h) with (U D f + -1 * U D h) by ring. unfold U. rewrite <- mean_lin.
    apply mean_le; [exact N|]. intros p Hp. specialize (L p Hp). rewrite dot_sub in L.
    pose proof (Rle_abs (- (dot f (Delta p) - dot h (Delta p)))) as A. rewrite Rabs_Ropp in A.
    unfold hinge, Rmax. repeat destruct Rle_dec; pose proof (Rabs_pos (dot f (Delta p) - dot h (Delta p))); lra. }
  apply Rabs_le. split; [|now apply Half].
  enough (U D h - U D f <= b) by lra. apply Half. intros p Hp. specialize (L p Hp).
  rewrite dot_sub in *. rewrite Rabs_minus_sym. exact L.
Qed.

Lemma below_loss D alpha f : D <> [] -> box alpha -> mean D alpha - dot f (g D alpha) <= U D f.
Proof.
  intros N A. rewrite dot_g.
  replace (mean D alpha - mean D (fun p => alpha p * dot f (Delta p)))
    with (mean D alpha + -1 * mean D (fun p => alpha p * dot f (Delta p))) by ring.
  rewrite <- mean_lin. apply mean_le; [exact N|]. intros p _.
  pose proof (proj1 (dual_hinge (alpha p) (A p)) (dot f (Delta p))). lra.
Qed.

(* The projection and its range. *)
Variable P : H -> H.
Hypothesis projection : forall x y, dot (P x) y = dot (P x) (P y).

Definition inside (f : H) : Prop := forall y, dot f y = dot f (P y).

Lemma self_adjoint x y : dot (P x) y = dot x (P y).
Proof. rewrite projection, dot_comm, <- projection. apply dot_comm. Qed.

Lemma pythagoras x : norm2 x = norm2 (P x) + norm2 (sub x (P x)).
Proof.
  dots. rewrite (dot_comm _ x (P x)). rewrite (projection x x). ring.
Qed.

Lemma inside_segments : segments inside.
Proof. intros t f h _ Hf Hh y. unfold mix. dots. now rewrite Hf, Hh. Qed.

(* Values of the dual for K and for K~. *)
Definition D_K (D : list T) alpha : R := mean D alpha - norm2 (g D alpha) / (2 * lam).
Definition D_P (D : list T) alpha : R := mean D alpha - norm2 (P (g D alpha)) / (2 * lam).

(* u'E u of the marginals of alpha *)
Definition error_form (D : list T) alpha : R := norm2 (sub (g D alpha) (P (g D alpha))).

Lemma dual_changes_by_error_form D alpha : D_P D alpha = D_K D alpha + error_form D alpha / (2 * lam).
Proof.
  unfold D_P, D_K, error_form. rewrite (pythagoras (g D alpha)). field. lra.
Qed.

Lemma weak_full D alpha f : D <> [] -> box alpha -> D_K D alpha <= F D f.
Proof.
  intros N A. pose proof (below_loss D alpha f N A). pose proof (young lam f (g D alpha) lam_pos).
  unfold D_K, F, objective. lra.
Qed.

Lemma weak_projected D alpha f : D <> [] -> box alpha -> inside f -> D_P D alpha <= F D f.
Proof.
  intros N A In. pose proof (below_loss D alpha f N A). rewrite (In (g D alpha)) in H0.
  pose proof (young lam f (P (g D alpha)) lam_pos). unfold D_P, F, objective. lra.
Qed.

Variable Lam : list T.
Hypothesis some : Lam <> [].

(* f^ and f^_P with optimal dual points: alpha in the box whose dual value is the optimum. *)
Variables (f_hat f_P : H) (alpha_hat alpha_P : T -> R).
Hypothesis hat_box : box alpha_hat.
Hypothesis hat_optimal : F Lam f_hat = D_K Lam alpha_hat.
Hypothesis P_inside : inside f_P.
Hypothesis P_box : box alpha_P.
Hypothesis P_optimal : F Lam f_P = D_P Lam alpha_P.

Let q : R := error_form Lam alpha_P.

Lemma hat_minimises : minimiser (U Lam) lam f_hat.
Proof. intro h. change (F Lam f_hat <= F Lam h). rewrite hat_optimal. now apply weak_full. Qed.

Lemma P_minimises : minimiser_in (U Lam) lam inside f_P.
Proof.
  split; [exact P_inside|]. intros h Hh. change (F Lam f_P <= F Lam h). rewrite P_optimal.
  now apply weak_projected.
Qed.

(* Theorem 4' (A). *)
Theorem theorem_A :
  error_form Lam alpha_hat / (2 * lam) <= F Lam f_P - F Lam f_hat <= q / (2 * lam) /\
  norm (sub f_P f_hat) <= sqrt q / lam.
Proof.
  assert (F Lam f_P - F Lam f_hat <= q / (2 * lam)) as Up.
  { rewrite P_optimal, dual_changes_by_error_form. fold q.
    pose proof (weak_full Lam alpha_P f_hat some P_box). lra. }
  split; [split; [|exact Up]|].
  - pose proof (weak_projected Lam alpha_hat f_P some hat_box P_inside) as W.
    rewrite dual_changes_by_error_form, <- hat_optimal in W. lra.
  - pose proof (strong_convexity (U Lam) lam lam_pos (U_convex Lam) f_hat f_P hat_minimises) as S.
    fold (F Lam f_P) in S. fold (F Lam f_hat) in S.
    apply norm_le_of_square.
    + apply Rmult_le_pos; [apply sqrt_pos|]. left. now apply Rinv_0_lt_compat.
    + assert (0 <= q) as Q by apply dot_pos.
      replace (sqrt q / lam * (sqrt q / lam)) with (sqrt q * sqrt q / (lam * lam)) by (field; lra).
      rewrite sqrt_sqrt by exact Q.
      apply Rmult_le_reg_l with (lam / 2); [lra|].
      replace (lam / 2 * (q / (lam * lam))) with (q / (2 * lam)) by (field; lra). lra.
Qed.

Lemma P_above_hat : 0 <= F Lam f_P - F Lam f_hat.
Proof. pose proof (hat_minimises f_P) as M. fold (F Lam f_P) in M. fold (F Lam f_hat) in M. lra. Qed.

(* Step 2: lam |f|^2 <= 1 and |f| <= R / lam at each optimum. *)
Lemma scaled_optimum : norm2 (sub (scal lam f_P) (P (g Lam alpha_P))) = 0 /\
  mean Lam (fun p => hinge (dot f_P (Delta p)) - alpha_P p + alpha_P p * dot f_P (Delta p)) = 0.
Proof.
  assert (mean Lam (fun p => hinge (dot f_P (Delta p)) - alpha_P p + alpha_P p * dot f_P (Delta p))
    + norm2 (sub (scal lam f_P) (P (g Lam alpha_P))) / (2 * lam) = F Lam f_P - D_P Lam alpha_P) as E.
  { transitivity (mean Lam (fun p => (hinge (dot f_P (Delta p)) + -1 * alpha_P p)
      + 1 * (alpha_P p * dot f_P (Delta p))) + norm2 (sub (scal lam f_P) (P (g Lam alpha_P))) / (2 * lam)).
    - f_equal. unfold mean. f_equal. apply sum_ext. intros. ring.
    - rewrite mean_lin, mean_lin, <- dot_g, P_inside. fold (U Lam f_P). unfold F, objective, D_P. dots.
      rewrite (dot_comm _ (P (g Lam alpha_P)) f_P). field. lra. }
  rewrite P_optimal, Rminus_diag_eq in E by reflexivity.
  assert (0 <= mean Lam (fun p => hinge (dot f_P (Delta p)) - alpha_P p + alpha_P p * dot f_P (Delta p))) as A.
  { rewrite <- (mean_const Lam 0 some). apply mean_le; [exact some|]. intros p _.
    pose proof (proj1 (dual_hinge _ (P_box p)) (dot f_P (Delta p))). lra. }
  pose proof (dot_pos _ (sub (scal lam f_P) (P (g Lam alpha_P)))) as B.
  fold (norm2 (sub (scal lam f_P) (P (g Lam alpha_P)))) in B.
  set (n2 := norm2 (sub (scal lam f_P) (P (g Lam alpha_P)))) in *.
  assert (0 <= n2 / (2 * lam)) by (apply Rmult_le_pos; [exact B|left; apply Rinv_0_lt_compat; lra]).
  assert (n2 / (2 * lam) = 0) as Z by lra.
  split; [|lra]. replace n2 with (n2 / (2 * lam) * (2 * lam)) by (field; lra). rewrite Z. ring.
Qed.

Lemma gradient_zero y : lam * dot f_P y = dot (P (g Lam alpha_P)) y.
Proof.
  pose proof (cauchy_schwarz_abs (sub (scal lam f_P) (P (g Lam alpha_P))) y) as C.
  unfold norm in C at 1. fold (norm2 (sub (scal lam f_P) (P (g Lam alpha_P)))) in C.
  rewrite (proj1 scaled_optimum), sqrt_0, Rmult_0_l, dot_sub, dot_scal in C.
  pose proof (Rabs_pos (lam * dot f_P y - dot (P (g Lam alpha_P)) y)) as A.
  assert (Rabs (lam * dot f_P y - dot (P (g Lam alpha_P)) y) = 0) as Z by lra.
  destruct (Req_dec (lam * dot f_P y - dot (P (g Lam alpha_P)) y) 0) as [E|E]; [lra|].
  now apply Rabs_no_R0 in E.
Qed.

(* alpha is a slope of the hinge at f_P, pair by pair. *)
Lemma slopes p : In p Lam -> hinge (dot f_P (Delta p)) = alpha_P p - alpha_P p * dot f_P (Delta p).
Proof.
  destruct scaled_optimum as [_ Z]. intro Hp.
  assert (forall p, In p Lam ->
    0 = hinge (dot f_P (Delta p)) - alpha_P p + alpha_P p * dot f_P (Delta p)) as E.
  { apply (equal_terms Lam (fun _ => 0)).
    - intros r _. pose proof (proj1 (dual_hinge _ (P_box r)) (dot f_P (Delta r))). lra.
    - rewrite sum_zero by reflexivity. unfold mean in Z.
      pose proof (length_pos Lam some) as L. symmetry.
      replace (sum Lam _) with (sum Lam (fun p => hinge (dot f_P (Delta p)) - alpha_P p
        + alpha_P p * dot f_P (Delta p)) / INR (length Lam) * INR (length Lam)) by (field; lra).
      rewrite Z. ring. }
  specialize (E p Hp). lra.
Qed.

(* One draw: pairs of Lam, as many as there are. f_B minimises over the span of the landmarks. *)
Section Draw.
Variables (D : list T) (f_B : H).
Hypothesis drawn : D <> [] /\ forall p, In p D -> In p Lam.
Hypothesis B_minimises : minimiser_in (U D) lam inside f_B.

Definition Z_of (D : list T) : R := norm (sub (P (g D alpha_P)) (scal lam f_P)).
Let Z : R := Z_of D.

Lemma above_tangent h : inside h ->
  F D f_P + dot (sub h f_P) (sub (scal lam f_P) (P (g D alpha_P))) + lam / 2 * norm2 (sub h f_P) <= F D h.
Proof.
  intro Hh. pose proof (below_loss D alpha_P h (proj1 drawn) P_box) as L.
  assert (U D f_P = mean D alpha_P - dot f_P (g D alpha_P)) as E.
  { rewrite dot_g.
    replace (mean D alpha_P - mean D (fun p => alpha_P p * dot f_P (Delta p)))
      with (mean D alpha_P + -1 * mean D (fun p => alpha_P p * dot f_P (Delta p))) by ring.
    rewrite <- mean_lin. unfold U, mean. f_equal. apply sum_ext. intros p Hp.
    rewrite slopes by now apply drawn. ring. }
  rewrite Hh in L. rewrite P_inside in E. unfold F, objective. rewrite E. dots.
  rewrite (dot_comm _ f_P h). lra.
Qed.

Lemma B_near : lam * norm (sub f_B f_P) <= Z.
Proof.
  pose proof (above_tangent f_B (proj1 B_minimises)) as A.
  pose proof (strong_convexity_in (U D) lam lam_pos (U_convex D) inside f_B f_P inside_segments
    B_minimises P_inside) as S. fold (F D f_P) in S. fold (F D f_B) in S.
  pose proof (cauchy_schwarz_lower (sub f_B f_P) (sub (scal lam f_P) (P (g D alpha_P)))) as C.
  assert (norm (sub (scal lam f_P) (P (g D alpha_P))) = Z) as N.
  { apply norm_sub_comm. }
  rewrite N in C. rewrite <- !norm_square in A, S.
  assert (norm (sub f_P f_B) = norm (sub f_B f_P)) as Sy by apply norm_sub_comm.
  rewrite Sy in S. pose proof (norm_pos (sub f_B f_P)) as P0.
  destruct (Req_dec (norm (sub f_B f_P)) 0) as [E|E]; [rewrite E, Rmult_0_r; apply norm_pos|].
  apply Rmult_le_reg_r with (norm (sub f_B f_P)); [lra|]. lra.
Qed.

(* Step 5: (i) and (ii). *)
Theorem stability :
  norm (sub f_B f_P) <= Z / lam /\ 0 <= F D f_P - F D f_B <= Z * Z / (2 * lam).
Proof.
  pose proof B_near as Near. split.
  { apply Rmult_le_reg_l with lam; [exact lam_pos|]. replace (lam * (Z / lam)) with Z by (field; lra).
    exact Near. }
  split; [pose proof (proj2 B_minimises f_P P_inside) as M; fold (F D f_P) in M; fold (F D f_B) in M; lra|].
  pose proof (above_tangent f_B (proj1 B_minimises)) as A.
  pose proof (cauchy_schwarz_lower (sub f_B f_P) (sub (scal lam f_P) (P (g D alpha_P)))) as C.
  assert (norm (sub (scal lam f_P) (P (g D alpha_P))) = Z) as N.
  { apply norm_sub_comm. }
  rewrite N in C. rewrite <- !norm_square in A.
  set (e := norm (sub f_B f_P)) in *.
  assert (e * Z - lam / 2 * (e * e) <= Z * Z / (2 * lam)).
  { apply Rmult_le_reg_l with (2 * lam); [lra|].
    replace (2 * lam * (Z * Z / (2 * lam))) with (Z * Z) by (field; lra).
    pose proof (Rle_0_sqr (lam * e - Z)) as Q. unfold Rsqr in Q. lra. }
  lra.
Qed.

(* Step 7, first line. *)
Lemma excess_is_a_difference :
  F Lam f_B - F Lam f_P <= (U Lam f_B - U D f_B) - (U Lam f_P - U D f_P).
Proof.
  pose proof (proj2 B_minimises f_P P_inside) as M. unfold F, objective in *. lra.
Qed.

(* Step 9: part (II) on the event that Z <= z and the losses at f_P differ by at most dev. *)
Theorem losses_differ z dev R Rp :
  Z <= z -> Rabs (U D f_P - U Lam f_P) <= dev ->
  (forall p, In p Lam -> norm (Delta p) <= R) -> (forall p, In p Lam -> norm (P (Delta p)) <= Rp) ->
  Rabs (U Lam f_hat - U D f_B)
  <= Rmin (dev + Rmax (z * z) q / (2 * lam) + (norm f_hat + norm f_B) * (z + sqrt q) / 2)
          (dev + R * norm (sub f_hat f_P) + Rp * z / lam).
Proof.
  intros Zz Dev Rb Rpb.
  assert (0 <= Z) as Z0 by apply norm_pos.
  destruct theorem_A as [[_ A] Near]. destruct stability as [NearB [Rest0 Rest]].
  pose proof (P_above_hat) as Low.
  assert (0 <= q) as Q0 by apply dot_pos. pose proof (sqrt_pos q) as Sq.
  assert (Z / lam <= z / lam) as Zl by (apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|exact Zz]).
  assert (Z * Z / (2 * lam) <= z * z / (2 * lam)) as ZZ.
  { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply Rmult_le_compat; assumption. }
  assert (z * z / (2 * lam) <= Rmax (z * z) q / (2 * lam) /\ q / (2 * lam) <= Rmax (z * z) q / (2 * lam)) as [M1 M2].
  { split; apply Rmult_le_compat_r; try (left; apply Rinv_0_lt_compat; lra); [apply Rmax_l|apply Rmax_r]. }
  apply Rmin_glb.
  - pose proof (norm2_difference f_B f_hat) as N2. rewrite (Rplus_comm (norm f_B)) in N2.
    assert (norm (sub f_B f_hat) <= (z + sqrt q) / lam) as Dist.
    { apply Rle_trans with (1 := norm_sub_triangle f_B f_P f_hat). unfold Rdiv in *. lra. }
    pose proof (norm_pos f_hat). pose proof (norm_pos f_B).
    assert (lam / 2 * Rabs (norm2 f_B - norm2 f_hat) <= (norm f_hat + norm f_B) * (z + sqrt q) / 2) as Pen.
    { apply Rle_trans with (lam / 2 * ((z + sqrt q) / lam * (norm f_hat + norm f_B))).
      - apply Rmult_le_compat_l; [lra|]. apply Rle_trans with (1 := N2).
        apply Rmult_le_compat_r; [lra|exact Dist].
      - right. field. lra. }
    assert (U Lam f_hat - U D f_B = - (F Lam f_P - F Lam f_hat) - (U D f_P - U Lam f_P)
      + (F D f_P - F D f_B) + lam / 2 * (norm2 f_B - norm2 f_hat)) as E
      by (unfold F, objective; ring).
    rewrite E. pose proof (Rle_abs (norm2 f_B - norm2 f_hat)) as B1.
    pose proof (Rle_abs (- (norm2 f_B - norm2 f_hat))) as B2. rewrite Rabs_Ropp in B2.
    pose proof (Rle_abs (U D f_P - U Lam f_P)) as C1.
    pose proof (Rle_abs (- (U D f_P - U Lam f_P))) as C2. rewrite Rabs_Ropp in C2.
    apply Rmult_le_compat_l with (r := lam / 2) in B1, B2; try lra.
    apply Rabs_le. split; lra.
  - assert (Rabs (U Lam f_hat - U Lam f_P) <= R * norm (sub f_hat f_P)) as L1.
    { apply U_lipschitz; [exact some|]. intros p Hp.
      apply Rle_trans with (1 := cauchy_schwarz_abs _ _). rewrite Rmult_comm.
      apply Rmult_le_compat_r; [apply norm_pos|auto]. }
    assert (Rabs (U D f_P - U D f_B) <= Rp * z / lam) as L2.
    { apply U_lipschitz; [apply drawn|]. intros p Hp. rewrite dot_sub, P_inside, (proj1 B_minimises), <- dot_sub.
      apply Rle_trans with (1 := cauchy_schwarz_abs _ _). rewrite (norm_sub_comm f_P f_B).
      pose proof (Rpb p (proj2 drawn p Hp)). pose proof (norm_pos (P (Delta p))).
      pose proof (norm_pos (sub f_B f_P)).
      replace (Rp * z / lam) with (z / lam * Rp) by (field; lra). apply Rmult_le_compat; lra. }
    replace (U Lam f_hat - U D f_B) with ((U Lam f_hat - U Lam f_P) + - (U D f_P - U Lam f_P) + (U D f_P - U D f_B))
      by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). pose proof (Rabs_triang (U Lam f_hat - U Lam f_P) (- (U D f_P - U Lam f_P))).
    rewrite Rabs_Ropp in *. lra.
Qed.

(* Step 7 on the event Z <= z: with G the supremum over the ball of radius z / lam in the span. *)
Definition deviation (D : list T) (h : H) : R :=
  (U Lam (add f_P h) - U D (add f_P h)) - (U Lam f_P - U D f_P).

Theorem excess_loss z G : Z <= z ->
  (forall h, inside h -> norm h <= z / lam -> deviation D h <= G) ->
  F Lam f_B - F Lam f_hat <= G + q / (2 * lam).
Proof.
  intros Zz Sup. destruct theorem_A as [[_ A] _]. destruct stability as [NearB _].
  pose proof excess_is_a_difference as Ex.
  assert (inside (sub f_B f_P)) as In by (intro y; rewrite !dot_sub, P_inside, (proj1 B_minimises); reflexivity).
  specialize (Sup (sub f_B f_P) In). unfold deviation in Sup.
  rewrite (U_ext Lam (add f_P (sub f_B f_P)) f_B), (U_ext D (add f_P (sub f_B f_P)) f_B) in Sup
    by (intro; dots; ring).
  assert (Z / lam <= z / lam) by (apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|exact Zz]).
  specialize (Sup ltac:(lra)). lra.
Qed.
End Draw.
End Setting.
