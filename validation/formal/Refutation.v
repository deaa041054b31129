(* docs/errata.md, E7: the instance on which Theorem 4 as printed is false, with its numbers. One
   mixed cluster holds half of the rows, m pure clusters the others; one landmark in the mixed one. *)
From Coq Require Import Reals Lra List Bool Psatz.
From Formal Require Import Sums Space Minorant Losses PairLosses Radius Nystrom.
Import ListNotations.
Open Scope R_scope.

(* While every hinge is active the minimiser is the mean of Delta over lam, and the loss follows. *)
Section AllActive.
Context {H : Space} {T : Type} (Delta : T -> H) (lam : R).
Hypothesis lam_pos : 0 < lam.
Variable P : H -> H.
Hypothesis projection : forall x y, dot (P x) y = dot (P x) (P y).

Theorem loss_while_all_active (D : list T) f :
  let mu := g Delta D (fun _ => 1) in
  D <> [] -> (forall p, In p D -> dot (P mu) (Delta p) <= lam) ->
  minimiser_in (U Delta D) lam (inside P) f -> U Delta D f = 1 - norm2 (P mu) / lam.
Proof.
  intros mu N Act [In_f M]. set (star := scal (/ lam) (P mu)).
  assert (inside P star) as In_s by (intro y; unfold star; rewrite !dot_scal, projection; reflexivity).
  assert (U Delta D star = 1 - norm2 (P mu) / lam) as Us.
  { transitivity (mean D (fun p => 1 + -1 * (1 * dot star (Delta p)))).
    - unfold U, mean. f_equal. apply sum_ext. intros p Hp. unfold hinge. rewrite Rmax_right; [ring|].
      unfold star. rewrite dot_scal. specialize (Act p Hp).
      apply Rmult_le_compat_l with (r := / lam) in Act; [|left; now apply Rinv_0_lt_compat].
      rewrite Rinv_l in Act; lra.
    - rewrite mean_lin, mean_const by exact N. rewrite <- (dot_g Delta D (fun _ => 1)). fold mu.
      rewrite In_s. unfold star. rewrite dot_scal. unfold norm2. field. lra. }
  assert (objective (U Delta D) lam star <= objective (U Delta D) lam f) as Best.
  { pose proof (weak_projected Delta lam lam_pos P D (fun _ => 1) f N) as W.
    specialize (W ltac:(intro; lra) In_f). unfold F in W. apply Rle_trans with (2 := W).
    unfold objective, D_P. fold mu. rewrite Us, mean_const by exact N. unfold star. dots. right. field. lra. }
  pose proof (strong_convexity_in (U Delta D) lam lam_pos (U_convex Delta D) (inside P) f star
    (inside_segments P) (conj In_f M) In_s) as S.
  assert (norm2 (sub star f) <= 0) as Z by (apply Rmult_le_reg_l with (lam / 2); lra).
  rewrite <- Us. apply U_ext. intro y.
  pose proof (norm_le_of_square (sub star f) 0 ltac:(lra) ltac:(lra)) as N0.
  pose proof (cauchy_schwarz_abs (sub star f) y) as C. pose proof (norm_pos (sub star f)).
  pose proof (norm_pos y). assert (norm (sub star f) = 0) as E by lra.
  rewrite E, Rmult_0_l, dot_sub in C. pose proof (Rle_abs (dot star y - dot f y)).
  pose proof (Rle_abs (- (dot star y - dot f y))) as C'. rewrite Rabs_Ropp in C'. lra.
Qed.
End AllActive.

(* The clusters: K_ij = (1 - eta_c) [same cluster] + eta_c [same row]. *)
Section Clusters.
Context {H : Space} {I : Type} (rows : list I) (k : I -> H) (cluster : I -> nat) (y eta e : I -> R).
Hypothesis dec : forall i j : I, {i = j} + {i <> j}.
Hypothesis distinct : NoDup rows.
Hypothesis kernel : forall i j, In i rows -> In j rows -> dot (k i) (k j)
  = (1 - eta i) * (if Nat.eqb (cluster i) (cluster j) then 1 else 0) + eta i * (if dec j i then 1 else 0).
(* e_i = eta + (1 - eta) s in a pure cluster of s rows, eta in the mixed one: *)
Hypothesis balance : forall i, In i rows ->
  (1 - eta i) * (\sum_(j <- rows) (if Nat.eqb (cluster i) (cluster j) then 1 else 0) * y j)
  + eta i * y i = y i * e i.
Hypothesis signs : forall i, In i rows -> y i = 1 \/ y i = -1.

(* mu = (2/n) sum y_i k_i, the mean of k_i - k_j over all pairs of balanced classes *)
Definition mu (n : R) : H := scal (2 / n) (vsum rows (fun i => scal (y i) (k i))).

Theorem cluster_score n i : In i rows -> dot (mu n) (k i) = 2 / n * (y i * e i).
Proof.
  intro Hi. unfold mu. rewrite dot_scal, dot_vsum. f_equal. rewrite <- balance by exact Hi.
  rewrite <- sum_scal, <- (sum_pick dec rows i (fun j => eta i * y i) distinct Hi), <- sum_add.
  apply sum_ext. intros j Hj. rewrite dot_scal, dot_comm, kernel by assumption.
  destruct (dec j i) as [->|]; ring.
Qed.

Theorem cluster_norm2 n : norm2 (mu n) = 2 / n * (2 / n) * sum rows e.
Proof.
  unfold norm2. unfold mu at 2. rewrite dot_scal_r, dot_vsum_r, Rmult_assoc. f_equal.
  rewrite <- sum_scal. apply sum_ext. intros i Hi. rewrite dot_scal_r, cluster_score by exact Hi.
  destruct (signs i Hi) as [-> | ->]; ring.
Qed.

(* Half of the rows in pure clusters, e = kap, the others in the mixed one, e = eta_M. *)
Theorem cluster_loss n lam kap eta_M : 0 < n -> 0 < lam -> sum rows e = n / 2 * (kap + eta_M) ->
  1 - norm2 (mu n) / lam = 1 - 2 * (kap + eta_M) / n / lam.
Proof. intros N L E. rewrite cluster_norm2, E. field. lra. Qed.

(* mu is the mean of k_i - k_j over all pairs where the classes are of equal size. *)
Theorem mean_over_pairs n (pos neg : list I) :
  rows = pos ++ neg -> INR (length pos) = n / 2 -> INR (length neg) = n / 2 -> 0 < n ->
  (forall i, In i pos -> y i = 1) -> (forall j, In j neg -> y j = -1) ->
  forall f, dot f (g (fun p => sub (k (fst p)) (k (snd p))) (list_prod pos neg) (fun _ => 1)) = dot f (mu n).
Proof.
  intros E Lp Ln N Yp Yn f. rewrite dot_g. unfold mean, mu.
  rewrite prod_length, mult_INR, Lp, Ln, dot_scal_r, dot_vsum_r, E, sum_app, sum_list_prod. simpl.
  rewrite (sum_ext pos _ (fun i => n / 2 * dot f (k i) - \sum_(j <- neg) dot f (k j))).
  2: { intros i _. rewrite <- Ln, <- sum_const, <- sum_sub. apply sum_ext. intros. dots. ring. }
  rewrite sum_sub, sum_const, sum_scal, Lp.
  rewrite (sum_ext pos (fun i => dot f (scal (y i) (k i))) (fun i => dot f (k i)))
    by (intros i Hi; rewrite (Yp i Hi); dots; ring).
  rewrite (sum_ext neg (fun i => dot f (scal (y i) (k i))) (fun i => - dot f (k i)))
    by (intros i Hi; rewrite (Yn i Hi); dots; ring).
  rewrite sum_opp. field. lra.
Qed.
End Clusters.

(* The right side as printed, K_max = 1 and C = C_B = C~_B = 1 / lam; root is sqrt for the power 1/2 of
   the sum of norms in A_3, the identity for the power 1. *)
Definition printed (root : R -> R) (n B lam N_max E2 lam_min lam_plus delta : R) : R :=
  let A1 := (1 + 2 * sqrt (1 / lam)) / sqrt 2 in
  let A2 := sqrt (1 / lam / lam_plus) in
  let A3 := sqrt (2 / lam) * root (sqrt (1 / lam / lam_min) + A2) in
  A1 * sqrt (ln (4 / delta) / B)
  + N_max / B * (A2 * E2 * sqrt n + A3 * sqrt (N_max * E2 * (n * sqrt n) / B)).

(* kappa, |K - K~| and the nonzero eigenvalue of K~ for m = 20, q = 1/2, eta_M = 1/20, eta = 1/10. *)
Definition kappa (n : R) : R := 1 / 10 + 9 / 10 * (n / 40).
Definition kernel_error (n : R) : R := 1 / 20 * (19 / 20) * (n / 2 - 1) + 1 / 20.
Definition landmark_eigenvalue (n : R) : R := 19 / 20 * (19 / 20) * (n / 2 - 1) + 1.

Lemma sqrt_upper x r : 0 <= r -> x <= r * r -> sqrt x <= r.
Proof. intros P L. rewrite <- (sqrt_square r P). now apply sqrt_le_1_alt. Qed.

Lemma first_term B : 0 < B -> (1 + 2 * sqrt (1 / (1 / 10))) / sqrt 2 * sqrt (ln (4 / (1 / 20)) / B)
  <= 8 * sqrt (79 / B).
Proof.
  intro P. assert (sqrt (1 / (1 / 10)) <= 7 / 2) as S by (apply sqrt_upper; lra).
  assert (1 <= sqrt 2) as S2 by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra).
  pose proof (sqrt_pos (1 / (1 / 10))) as S0.
  apply Rmult_le_compat; try apply sqrt_pos.
  - apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
  - apply Rmult_le_reg_r with (sqrt 2); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
  - apply sqrt_le_1_alt. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    pose proof (ln_le_minus_1 (4 / (1 / 20)) ltac:(lra)). lra.
Qed.

Lemma product x X y Y : 0 <= x <= X -> 0 <= y <= Y -> 0 <= x * y <= X * Y.
Proof. intros. split; [apply Rmult_le_pos; lra|apply Rmult_le_compat; lra]. Qed.

(* The rest, from bounds of its parts. *)
Lemma other_terms c C A2 a E2 rn RN L l M m X x : 0 <= c <= C -> 0 <= A2 <= a -> 0 <= E2 ->
  0 <= rn <= RN -> 0 <= L <= l -> 0 <= M <= m -> 0 <= X <= x * x -> 0 <= x ->
  c * (A2 * E2 * rn + L * M * sqrt X) <= C * (a * E2 * RN + l * m * x).
Proof.
  intros Hc Ha He Hr Hl Hm Hx X0.
  assert (0 <= sqrt X <= x) as S by (split; [apply sqrt_pos|apply sqrt_upper; lra]).
  pose proof (product _ _ _ _ (product _ _ _ _ Ha (conj He (Rle_refl E2))) Hr).
  pose proof (product _ _ _ _ (product _ _ _ _ Hl Hm) S). apply Rmult_le_compat; lra.
Qed.

(* n = 1e7, B = 1e10, power 1/2: while no row is drawn more than 2400 times. *)
Theorem printed_bound_1e7 N_max : 0 <= N_max <= 2400 ->
  printed sqrt 1e7 1e10 (1 / 10) N_max (kernel_error 1e7) (1 / 20) (landmark_eigenvalue 1e7) (1 / 20)
  <= 442 / 1000.
Proof.
  intro Nm. unfold printed.
  pose proof (first_term 1e10 ltac:(lra)) as F1.
  assert (sqrt (79 / 1e10) <= 9 / 100000) as F2 by (apply sqrt_upper; lra).
  set (A2 := sqrt (1 / (1 / 10) / landmark_eigenvalue 1e7)).
  assert (0 <= A2 <= 14887 / 10000000) as A2b.
  { split; [apply sqrt_pos|]. apply sqrt_upper; [lra|]. unfold landmark_eigenvalue.
    apply Rmult_le_reg_r with (19 / 20 * (19 / 20) * (1e7 / 2 - 1) + 1); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (0 <= sqrt 1e7 <= 31622777 / 10000) as Rn by (split; [apply sqrt_pos|apply sqrt_upper; lra]).
  assert (0 <= sqrt (2 / (1 / 10)) <= 447214 / 100000) as L
    by (split; [apply sqrt_pos|apply sqrt_upper; lra]).
  assert (sqrt (1 / (1 / 10) / (1 / 20)) <= 141422 / 10000) as M1 by (apply sqrt_upper; lra).
  assert (0 <= sqrt (sqrt (1 / (1 / 10) / (1 / 20)) + A2) <= 376087 / 100000) as M
    by (split; [apply sqrt_pos|apply sqrt_upper; lra]).
  assert (kernel_error 1e7 = 2375000025 / 10000) as E by (unfold kernel_error; lra).
  assert (0 <= N_max * kernel_error 1e7 * (1e7 * sqrt 1e7) / 1e10 <= 42460 * 42460) as X.
  { rewrite E. assert (0 <= N_max * sqrt 1e7 <= 2400 * (31622777 / 10000)) as Q by (now apply product). lra. }
  assert (0 <= N_max / 1e10 <= 2400 / 1e10) as C by lra.
  pose proof (other_terms _ _ _ _ (kernel_error 1e7) _ _ _ _ _ _ _ 42460 C A2b ltac:(lra) Rn L M X ltac:(lra))
    as O. rewrite E in O at 3. lra.
Qed.

(* n = 1e10, B = 1e16, power 1: while no row is drawn more than 2,020,000 times. *)
Theorem printed_bound_1e10 N_max : 0 <= N_max <= 2020000 ->
  printed (fun x => x) 1e10 1e16 (1 / 10) N_max (kernel_error 1e10) (1 / 20) (landmark_eigenvalue 1e10)
    (1 / 20) <= 316 / 1000.
Proof.
  intro Nm. unfold printed.
  pose proof (first_term 1e16 ltac:(lra)) as F1.
  assert (sqrt (79 / 1e16) <= 9 / 100000) as F2 by (apply sqrt_upper; lra).
  set (A2 := sqrt (1 / (1 / 10) / landmark_eigenvalue 1e10)).
  assert (0 <= A2 <= 47076 / 1000000000) as A2b.
  { split; [apply sqrt_pos|]. apply sqrt_upper; [lra|]. unfold landmark_eigenvalue.
    apply Rmult_le_reg_r with (19 / 20 * (19 / 20) * (1e10 / 2 - 1) + 1); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (0 <= sqrt 1e10 <= 100000) as Rn by (split; [apply sqrt_pos|apply sqrt_upper; lra]).
  assert (0 <= sqrt (2 / (1 / 10)) <= 447214 / 100000) as L
    by (split; [apply sqrt_pos|apply sqrt_upper; lra]).
  assert (0 <= sqrt (1 / (1 / 10) / (1 / 20)) <= 141422 / 10000) as M1
    by (split; [apply sqrt_pos|apply sqrt_upper; lra]).
  assert (0 <= sqrt (1 / (1 / 10) / (1 / 20)) + A2 <= 141423 / 10000) as M by lra.
  assert (kernel_error 1e10 = 2375000000025 / 10000) as E by (unfold kernel_error; lra).
  assert (0 <= N_max * kernel_error 1e10 * (1e10 * sqrt 1e10) / 1e16 <= 6926500 * 6926500) as X.
  { rewrite E. assert (0 <= N_max * sqrt 1e10 <= 2020000 * 100000) as Q by (now apply product). lra. }
  assert (0 <= N_max / 1e16 <= 2020000 / 1e16) as C by lra.
  pose proof (other_terms _ _ _ _ (kernel_error 1e10) _ _ _ _ _ _ _ 6926500 C A2b ltac:(lra) Rn L M X ltac:(lra))
    as O. rewrite E in O at 3. lra.
Qed.

(* U(f^) = 1 - |mu|^2 / lam with |mu|^2 = 2 (kappa + eta_M) / n, and U_B(f~_B) = 1 - g^2 / lam, g the
   mean over D_B of v_i - v_j, v the column of K at the landmark. *)
Definition loss_of_optimum (n : R) : R := 1 - 2 * (kappa n + 1 / 20) / n / (1 / 10).

Theorem theorem_4_is_false_at_1e7 N_max drawn_g : 0 <= N_max <= 2400 -> Rabs drawn_g <= 1 / 10000 ->
  printed sqrt 1e7 1e10 (1 / 10) N_max (kernel_error 1e7) (1 / 20) (landmark_eigenvalue 1e7) (1 / 20)
  < Rabs (loss_of_optimum 1e7 - (1 - drawn_g * drawn_g / (1 / 10))).
Proof.
  intros Nm G. pose proof (printed_bound_1e7 N_max Nm) as P. unfold loss_of_optimum, kappa in *.
  assert (drawn_g * drawn_g <= 1 / 10000 * (1 / 10000)).
  { rewrite <- (Rabs_pos_eq (drawn_g * drawn_g)) by apply Rle_0_sqr. rewrite Rabs_mult.
    apply Rmult_le_compat; try apply Rabs_pos; exact G. }
  apply Rle_lt_trans with (1 := P). rewrite Rabs_left; lra.
Qed.

Theorem theorem_4_is_false_at_1e10 N_max drawn_g : 0 <= N_max <= 2020000 -> Rabs drawn_g <= 1 / 10000 ->
  printed (fun x => x) 1e10 1e16 (1 / 10) N_max (kernel_error 1e10) (1 / 20) (landmark_eigenvalue 1e10)
    (1 / 20)
  < Rabs (loss_of_optimum 1e10 - (1 - drawn_g * drawn_g / (1 / 10))).
Proof.
  intros Nm G. pose proof (printed_bound_1e10 N_max Nm) as P. unfold loss_of_optimum, kappa in *.
  assert (drawn_g * drawn_g <= 1 / 10000 * (1 / 10000)).
  { rewrite <- (Rabs_pos_eq (drawn_g * drawn_g)) by apply Rle_0_sqr. rewrite Rabs_mult.
    apply Rmult_le_compat; try apply Rabs_pos; exact G. }
  apply Rle_lt_trans with (1 := P). rewrite Rabs_left; lra.
Qed.
