(* docs/proof-files.md, kind "marginals": the largest flow that exact/proof/check_proof.py finds in whole
   numbers is that of Gale and Ryser, so its bound is below the loss of every f. Then the gap. *)
From Coq Require Import Reals ZArith QArith Qreals List Bool Sorted Permutation Lra Lia.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses Flow GaleRyser Deficiency.
From Formal Require Import CheckerSums Checker CheckerUpper CheckerLower.
Import ListNotations.
Open Scope R_scope.

Lemma sorted_map {X Y : Type} (f : X -> Y) (le : Y -> Y -> Prop) (le' : X -> X -> Prop) l :
  (forall p q, In p l -> In q l -> le (f p) (f q) -> le' p q) ->
  StronglySorted le (map f l) -> StronglySorted le' l.
Proof.
  induction l as [|p l IH]; intros H S; [constructor|]. simpl in S.
  apply StronglySorted_inv in S. destruct S as [S F]. constructor.
  - apply IH; [|exact S]. intros q r Q Rr. apply H; now right.
  - rewrite Forall_forall in *. intros q Q. apply H; [now left|now right|]. apply F, in_map, Q.
Qed.

Section Proof.
Context {I J : Type} (pos : list I) (neg : list J) (P a : I -> Z) (N b : J -> Z).
Context (d : nat) (x : I -> Rd d) (y : J -> Rd d) (offset : Rd d).
Hypothesis decI : forall i k : I, {i = k} + {i <> k}.
Hypothesis decJ : forall j k : J, {j = k} + {j <> k}.
Hypothesis pos_distinct : NoDup pos.
Hypothesis neg_distinct : NoDup neg.
Hypothesis a_pos : forall i, In i pos -> (0 <= a i)%Z.
Hypothesis b_pos : forall j, In j neg -> (0 <= b j)%Z.

Let A := rows_of P a pos.
Let B := columns_of N b neg.

Variables (U : I -> Z) (V : J -> Z) (cap : Z).
Hypothesis U_pos : forall i, In i pos -> (0 <= U i)%Z.
Hypothesis V_pos : forall j, In j neg -> (0 <= V j)%Z.
Hypothesis cap_pos : (0 < cap)%Z.

Let flow := marginals_flow A B (map U pos) (map V neg) cap.
Let key (i : I) : entry := (- U i, a i)%Z.

Let aR (i : I) : R := IZR (cap * a i).
Let uR (i : I) : R := IZR (a i * U i).
Let bR (j : J) : R := IZR (b j).
Let vR (j : J) : R := IZR (b j * V j).

Lemma carried_rows : row_order (carried A (map U pos)) = ascending (map key pos).
Proof.
  unfold row_order, A, rows_of, carried. f_equal. rewrite map_map. clear.
  induction pos as [|i l IH]; [reflexivity|]. exact (f_equal (cons (key i)) IH).
Qed.

Lemma carried_columns : carried B (map V neg) = map (fun j => (V j, b j)) neg.
Proof.
  unfold B, columns_of, carried. clear. induction neg as [|i l IH]; simpl; [reflexivity|]. now rewrite IH.
Qed.

(* Rows in the order in which the file takes them. *)
Lemma order_of_rows : exists rows, ascending (map key pos) = map key rows /\ Permutation pos rows.
Proof.
  apply Permutation_map_inv with (f := key). apply Permutation_sym, ascending_perm.
Qed.

Lemma IZR_min m n : IZR (Z.min m n) = Rmin (IZR m) (IZR n).
Proof.
  destruct (Z.le_gt_cases m n) as [L|L].
  - rewrite Z.min_l, Rmin_left; [reflexivity|now apply IZR_le|exact L].
  - rewrite Z.min_r, Rmin_right; [reflexivity| |lia]. apply IZR_le. lia.
Qed.

Lemma candidate rows t :
  let r := map key rows in
  let c := ascending (carried B (map V neg)) in
  IZR (flow_at t r c cap - moment (length r) r)
  = sum (skipn t rows) uR + through neg bR vR (0 + sum (firstn t rows) aR).
Proof.
  intros r c. rewrite flow_at_meaning by apply ascending_sorted. unfold c.
  rewrite <- (zsum_perm _ _ _ (ascending_perm _)), carried_columns, zsum_map. simpl.
  unfold moment, below, r. rewrite firstn_all, firstn_map, !zsum_map. simpl.
  assert (forall l, zsum l (fun i => a i * - U i) = - zsum l (fun i => a i * U i))%Z as Neg
    by (induction l as [|i l IH]; simpl; [reflexivity|rewrite IH; ring]).
  rewrite !Neg, <- (zsum_firstn_skipn t rows (fun i => a i * U i))%Z.
  match goal with |- IZR ?z = _ => replace z with
    (zsum (skipn t rows) (fun i => a i * U i) + zsum neg (fun j =>
      b j * Z.min (V j) (cap * zsum (firstn t rows) (fun i => a i))))%Z by ring end.
  rewrite plus_IZR, !IZR_zsum. f_equal. unfold through. apply sum_ext. intros j Hj.
  specialize (b_pos j Hj). unfold vR, bR. rewrite Rplus_0_l, <- Z.mul_min_distr_nonneg_l by exact b_pos.
  rewrite IZR_min. f_equal. rewrite !mult_IZR, IZR_zsum. f_equal. unfold aR. rewrite <- sum_scal.
  apply sum_ext. intros. now rewrite mult_IZR.
Qed.

Lemma flow_is_largest rows : ascending (map key pos) = map key rows ->
  GaleRyser.largest_flow neg aR uR bR vR rows = IZR flow.
Proof.
  intro E. set (c := ascending (carried B (map V neg))). set (r := map key rows).
  set (at_ := fun t => flow_at t r c cap).
  assert (flow = least (map at_ (seq 0 (S (length rows)))) (at_ 0%nat) - moment (length rows) r)%Z as Ef.
  { unfold flow, marginals_flow, CheckerSums.largest_flow.
    rewrite carried_rows, E, map_length. reflexivity. }
  rewrite Ef. clear Ef.
  assert (forall t, IZR (at_ t - moment (length rows) r)
    = sum (skipn t rows) uR + through neg bR vR (0 + sum (firstn t rows) aR)) as Value.
  { intro t. rewrite <- candidate. unfold at_, r, c. now rewrite map_length. }
  apply Rle_antisym.
  - pose proof (least_attained (map at_ (seq 0 (S (length rows)))) (at_ 0%nat)) as At.
    assert (exists t, at_ t = least (map at_ (seq 0 (S (length rows)))) (at_ 0%nat)) as [t Et].
    { destruct At as [Z0|At]; [now exists 0%nat|]. apply in_map_iff in At. destruct At as [t [Et _]].
      now exists t. }
    rewrite <- Et, Value. unfold GaleRyser.largest_flow.
    pose proof (GaleRyser.least_below neg aR uR bR vR 0 (firstn t rows) (skipn t rows)) as L.
    now rewrite firstn_skipn in L.
  - destruct (GaleRyser.least_attained neg aR uR bR vR 0 rows) as [l1 [l2 [Er Eq]]].
    unfold GaleRyser.largest_flow. rewrite Eq.
    assert (firstn (length l1) rows = l1 /\ skipn (length l1) rows = l2) as [E1 E2].
    { rewrite Er, firstn_app, skipn_app, firstn_all, skipn_all, Nat.sub_diag. simpl.
      now rewrite app_nil_r. }
    rewrite <- E1 at 1. rewrite <- E2 at 1. rewrite <- Value. apply IZR_le.
    apply Z.sub_le_mono_r. apply CheckerSums.least_below. right. apply in_map, in_seq.
    split; [lia|]. rewrite Er, app_length. lia.
Qed.

Theorem marginals_flow_meaning : exists flows,
  feasible pos neg (fun i j => IZR (cap * (a i * b j))) (fun i => IZR (a i * U i))
    (fun j => IZR (b j * V j)) flows /\ total pos neg flows = IZR flow.
Proof.
  destruct order_of_rows as [rows [E Perm]].
  assert (forall i, In i rows -> In i pos) as Back
    by (intros i Hi; now apply (Permutation_in _ (Permutation_sym Perm))).
  destruct (gale_ryser rows neg aR uR bR vR decI decJ) as [[f [[W [Rw Cl]] T]] _].
  - now apply (Permutation_NoDup Perm).
  - exact neg_distinct.
  - intros i Hi. apply IZR_le. specialize (a_pos i (Back i Hi)). nia.
  - intros j Hj. now apply IZR_le, b_pos.
  - intros i Hi. apply IZR_le. specialize (a_pos i (Back i Hi)). specialize (U_pos i (Back i Hi)). nia.
  - intros j Hj. apply IZR_le. specialize (b_pos j Hj). specialize (V_pos j Hj). nia.
  - unfold by_ratio.
    apply (sorted_map key (fun p q => (fst p <= fst q)%Z)).
    + intros i k Hi Hk L. simpl in L. unfold uR, aR. rewrite <- !mult_IZR. apply IZR_le.
      specialize (a_pos i (Back i Hi)) as Ai. specialize (a_pos k (Back k Hk)) as Ak.
      replace (a k * U k * (cap * a i))%Z with (cap * a k * a i * U k)%Z by ring.
      replace (a i * U i * (cap * a k))%Z with (cap * a k * a i * U i)%Z by ring.
      apply Z.mul_le_mono_nonneg_l; [nia|lia].
    + rewrite <- E. apply ascending_sorted.
  - exists f. rewrite <- (flow_is_largest rows E), <- T. split; [split; [|split]|].
    + intros i j Hi Hj. pose proof (W i j (Permutation_in _ Perm Hi) Hj) as Q.
      unfold aR, bR in Q. rewrite <- mult_IZR, <- Z.mul_assoc in Q. exact Q.
    + intros i Hi. apply (Rw i). now apply (Permutation_in _ Perm).
    + intros j Hj. specialize (Cl j Hj). unfold column_sum in *. now rewrite (sum_perm pos rows).
    + unfold total. now apply sum_perm.
Qed.

Hypothesis some_pairs : (0 < pairs A B)%Z.
Variables lam scale : Q.
Hypothesis lam_pos : 0 < Q2R lam.
Hypothesis scale_range : 0 <= Q2R scale <= 1.

Theorem marginals_sound G far :
  pull_bound pos neg P a N b d x y offset U V flow G far ->
  forall f, Q2R (lower cap flow A B scale lam (map G (seq 0 d))) <= F pos neg P a N b d x y lam f.
Proof.
  intros Pull f. destruct marginals_flow_meaning as [flows [Fe T]].
  now apply (lower_of_flow pos neg P a N b d x y offset a_pos b_pos some_pairs lam scale lam_pos
    scale_range cap flow U V flows G far cap_pos Fe T Pull).
Qed.
End Proof.

(* Whichever kind the dual point is of: what is printed bounds what is left above the optimum. *)
Theorem printed_gap {H : Type} (F : H -> R) w (upper lower gap : Q) :
  F w <= Q2R upper -> (forall f, Q2R lower <= F f) -> (upper - lower <= gap)%Q ->
  forall f, F w - F f <= Q2R gap.
Proof.
  intros Up Lo G f. apply Qle_Rle in G. rewrite Q2R_minus in G. specialize (Lo f). lra.
Qed.
