(* docs/proof-files.md: what exact/proof/check_proof.py evaluates implies the gap that it prints.
   Scores and pulls in floating point enter by the bounds of their errors, as premises. *)
From Coq Require Import Reals ZArith QArith Qreals List Bool Sorted Permutation Lra Lia.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses Flow GaleRyser Deficiency.
From Formal Require Import CheckerSums Checker.
Import ListNotations.
Open Scope R_scope.

(* From whole numbers and fractions to the reals. *)
Lemma IZR_zsum {A : Type} (l : list A) f : IZR (zsum l f) = \sum_(i <- l) IZR (f i).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. now rewrite plus_IZR, IH. Qed.

Lemma Q2R_inject z : Q2R (inject_Z z) = IZR z.
Proof. unfold Q2R. simpl. field. Qed.

Lemma Q2R_whole z : Q2R (z # 1) = IZR z.
Proof. exact (Q2R_inject z). Qed.

Lemma Q2R_zero : Q2R 0 = 0.
Proof. exact (Q2R_whole 0). Qed.

Lemma Q2R_qsum {A : Type} (l : list A) f : Q2R (qsum l f) = \sum_(i <- l) Q2R (f i).
Proof. induction l as [|x l IH]; simpl; [exact Q2R_zero|]. now rewrite Q2R_plus, IH. Qed.

Lemma Q2R_squares (G : nat -> Q) l : Q2R (squares (map G l)) = \sum_(k <- l) Q2R (G k) * Q2R (G k).
Proof.
  unfold squares. rewrite Q2R_qsum, sum_map. apply sum_ext. intros. apply Q2R_mult.
Qed.

Lemma not_zero z : (z <> 0)%Z -> ~ (inject_Z z == 0)%Q.
Proof. intros H E. apply H. unfold Qeq in E. simpl in E. lia. Qed.

Lemma coordinate_vsum {A : Type} d (l : list A) (f : A -> Rd d) (q : nat) :
  (vsum l f : Rd d) q = \sum_(i <- l) f i q.
Proof. induction l as [|i l IH]; simpl; [reflexivity|]. now rewrite <- IH. Qed.

Section Proof.
Context {I J : Type} (pos : list I) (neg : list J) (P a : I -> Z) (N b : J -> Z).
Context (d : nat) (x : I -> Rd d) (y : J -> Rd d) (offset : Rd d).
Hypothesis decI : forall i k : I, {i = k} + {i <> k}.
Hypothesis decJ : forall j k : J, {j = k} + {j <> k}.
Hypothesis pos_distinct : NoDup pos.
Hypothesis neg_distinct : NoDup neg.
Hypothesis a_pos : forall i, In i pos -> (0 <= a i)%Z.
Hypothesis b_pos : forall j, In j neg -> (0 <= b j)%Z.

Definition rows_of (pos : list I) : list entry := map (fun i => (P i, a i)) pos.
Definition columns_of (neg : list J) : list entry := map (fun j => (N j, b j)) neg.
Let A := rows_of pos.
Let B := columns_of neg.

Hypothesis some_pairs : (0 < pairs A B)%Z.

Variable lam : Q.
Hypothesis lam_pos : 0 < Q2R lam.

(* The mean over all pairs, a row counted as often as it occurs. *)
Definition mean_weight (i : I) (j : J) : R := IZR (a i * b j) / IZR (pairs A B).
Definition F (f : Rd d) : R := all_pairs pos neg mean_weight x y hinge f + Q2R lam / 2 * norm2 f.

Lemma pairs_pos : 0 < IZR (pairs A B).
Proof. now apply IZR_lt. Qed.

Lemma mean_weight_nonneg i j : In i pos -> In j neg -> 0 <= mean_weight i j.
Proof.
  intros Hi Hj. unfold mean_weight. apply Rmult_le_pos.
  - apply IZR_le, Z.mul_nonneg_nonneg; auto.
  - left. apply Rinv_0_lt_compat, pairs_pos.
Qed.

Lemma pairs_real : IZR (pairs A B) = (\sum_(i <- pos) IZR (a i)) * (\sum_(j <- neg) IZR (b j)).
Proof.
  unfold pairs, weight, A, B, rows_of, columns_of.
  rewrite !zsum_map, mult_IZR, !IZR_zsum. reflexivity.
Qed.

Lemma mean_weight_total : \sum_(i <- pos) \sum_(j <- neg) mean_weight i j = 1.
Proof.
  pose proof pairs_pos as Pp.
  transitivity (\sum_(i <- pos) IZR (a i) * ((\sum_(j <- neg) IZR (b j)) * / IZR (pairs A B))).
  - apply sum_ext. intros i _. rewrite <- sum_scal_r, <- sum_scal. apply sum_ext. intros j _.
    unfold mean_weight, Rdiv. rewrite mult_IZR. ring.
  - rewrite sum_scal_r, <- Rmult_assoc, <- pairs_real. apply Rinv_r. lra.
Qed.

(* The hinge sum of the file is the sum over all pairs of the hinge of the rounded scores. *)
Theorem hinge_sum_meaning one :
  hinge_sum one A B
  = zsum pos (fun i => zsum neg (fun j => (a i * b j * Z.max 0 (one - P i + N j)))%Z).
Proof.
  unfold hinge_sum, A, B, rows_of, columns_of, shifted, negated. rewrite !zsum_map. simpl.
  rewrite (zsum_ext neg _ (fun j => zsum pos (fun i => a i * b j * (clip 0 1 (one - P i + N j) * N j)))%Z).
  2: { intros j _. rewrite ramp_meaning, !zsum_map by lia. simpl.
       rewrite <- Z.mul_assoc, (Z.mul_comm _ (N j)), <- !zsum_scal. apply zsum_ext. intros i _.
       replace (- P i + one - - N j)%Z with (one - P i + N j)%Z by lia. ring. }
  rewrite zsum_swap.
  rewrite (zsum_ext pos (fun i => a i * _ * P i)%Z
    (fun i => zsum neg (fun j => a i * b j * (clip 0 1 (one - P i + N j) * P i)))%Z).
  2: { intros i _. rewrite ramp_meaning, zsum_map by lia. simpl.
       rewrite <- Z.mul_assoc, (Z.mul_comm _ (P i)), <- !zsum_scal. apply zsum_ext. intros j _.
       replace (N j - (P i - one))%Z with (one - P i + N j)%Z by lia. ring. }
  rewrite (zsum_ext pos (fun i => a i * _)%Z
    (fun i => zsum neg (fun j => a i * b j * clip 0 1 (one - P i + N j)))%Z).
  2: { intros i _. rewrite ramp_meaning, zsum_map by lia. simpl.
       rewrite <- !zsum_scal. apply zsum_ext. intros j _.
       replace (N j - (P i - one))%Z with (one - P i + N j)%Z by lia. ring. }
  rewrite <- zsum_scal.
  assert (forall l f g h, (zsum l f - zsum l g + zsum l h = zsum l (fun i : I => f i - g i + h i))%Z) as Lin
    by (induction l as [|i l IH]; intros; simpl; [reflexivity|rewrite <- IH; lia]).
  rewrite Lin. apply zsum_ext. intros i _. rewrite <- zsum_scal.
  assert (forall l f g h, (zsum l f - zsum l g + zsum l h = zsum l (fun i : J => f i - g i + h i))%Z) as Lin'
    by (induction l as [|j l IH]; intros; simpl; [reflexivity|rewrite <- IH; lia]).
  rewrite Lin'. apply zsum_ext. intros j _. unfold clip.
  set (z := (one - P i + N j)%Z). 
  assert (Z.max 0 z = Z.max 0 (Z.min 1 z) * z)%Z as -> by (destruct (Z.le_gt_cases z 0);
    [rewrite !Z.max_l|rewrite Z.min_l, !Z.max_r]; lia).
  unfold z. ring.
Qed.

Lemma hinge_lipschitz s t : hinge s <= hinge t + Rabs (s - t).
Proof. unfold hinge, Rmax, Rabs. repeat destruct Rle_dec; destruct Rcase_abs; lra. Qed.

(* The loss at w is at most `upper`. slip is at least twice the largest error of a score. *)
Theorem upper_sound q (slip : Q) (w : list Q) :
  let one := (2 ^ Z.of_nat q)%Z in
  let point : Rd d := fun k => Q2R (nth k w 0%Q) in
  length w = d ->
  (forall i, In i pos -> 2 * Rabs (dot point (sub (x i) offset) - IZR (P i) / IZR one) <= Q2R slip) ->
  (forall j, In j neg -> 2 * Rabs (dot point (sub (y j) offset) - IZR (N j) / IZR one) <= Q2R slip) ->
  F point <= Q2R (upper q A B slip lam w).
Proof.
  intros one point Len Ep En.
  assert (0 < one)%Z as One by (unfold one; apply Z.pow_pos_nonneg; lia).
  pose proof pairs_pos as Pp. assert (0 < IZR one) as OneR by now apply IZR_lt.
  unfold upper. fold one. rewrite !Q2R_plus, Q2R_mult, !Q2R_div, !Q2R_inject, Q2R_whole.
  2: { intro E. unfold Qeq in E. simpl in E. lia. }
  2: { apply not_zero. lia. }
  assert (Q2R (squares w) = norm2 point) as ->.
  { unfold norm2, point. simpl. rewrite <- Len. clear. unfold squares. rewrite Q2R_qsum.
    induction w as [|z w IH]; [reflexivity|]. simpl length. rewrite <- cons_seq, !sum_cons.
    rewrite <- seq_shift, sum_map, IH, Q2R_mult. reflexivity. }
  unfold F. apply Rplus_le_compat_r. rewrite hinge_sum_meaning, IZR_zsum, mult_IZR.
  apply Rle_trans with (\sum_(i <- pos) \sum_(j <- neg) mean_weight i j *
    (hinge (IZR (P i) / IZR one - IZR (N j) / IZR one) + Q2R slip)).
  - apply sum_le. intros i Hi. apply sum_le. intros j Hj.
    apply Rmult_le_compat_l; [now apply mean_weight_nonneg|].
    apply Rle_trans with (1 := hinge_lipschitz _ (IZR (P i) / IZR one - IZR (N j) / IZR one)).
    apply Rplus_le_compat_l. specialize (Ep i Hi). specialize (En j Hj). rewrite dot_sub_r in Ep, En.
    eapply Rle_trans; [|apply Rle_trans with (Rabs (dot point (x i) - dot point offset - IZR (P i) / IZR one)
      + Rabs (dot point (y j) - dot point offset - IZR (N j) / IZR one)); [apply Rle_refl|lra]].
    rewrite <- (Rabs_Ropp (dot point (y j) - _ - _)).
    eapply Rle_trans; [|apply Rabs_triang]. right. f_equal. ring.
  - rewrite (sum_ext pos _ (fun i => \sum_(j <- neg) (mean_weight i j *
      hinge (IZR (P i) / IZR one - IZR (N j) / IZR one) + mean_weight i j * Q2R slip)))
      by (intros; apply sum_ext; intros; ring).
    rewrite (sum_ext pos _ (fun i => \sum_(j <- neg) mean_weight i j *
      hinge (IZR (P i) / IZR one - IZR (N j) / IZR one) + (\sum_(j <- neg) mean_weight i j) * Q2R slip))
      by (intros; now rewrite sum_add, sum_scal_r).
    rewrite sum_add, sum_scal_r, mean_weight_total, Rmult_1_l. apply Rplus_le_compat_r. right.
    symmetry. unfold Rdiv at 1. rewrite <- sum_scal_r. apply sum_ext. intros i _.
    rewrite IZR_zsum, <- sum_scal_r. apply sum_ext. intros j _. unfold mean_weight, hinge.
    rewrite mult_IZR.
    assert (IZR (Z.max 0 (one - P i + N j)) = IZR one * Rmax 0 (1 - (IZR (P i) / IZR one - IZR (N j) / IZR one))) as ->.
    { replace (IZR one * Rmax 0 (1 - (IZR (P i) / IZR one - IZR (N j) / IZR one)))
        with (Rmax (IZR one * 0) (IZR one * (1 - (IZR (P i) / IZR one - IZR (N j) / IZR one))))
        by (apply RmaxRmult; lra).
      replace (IZR one * (1 - (IZR (P i) / IZR one - IZR (N j) / IZR one))) with (IZR (one - P i + N j))
        by (rewrite plus_IZR, minus_IZR; field; lra).
      rewrite Rmult_0_r. destruct (Z.le_gt_cases 0 (one - P i + N j)) as [L|L].
      - rewrite Z.max_r, Rmax_right; [reflexivity|now apply IZR_le|exact L].
      - rewrite Z.max_l, Rmax_left; [reflexivity| |lia]. apply IZR_le. lia. }
    field. lra.
Qed.
End Proof.
