(* docs/proof-files.md: `lower` of exact/proof/check_proof.py is below the loss of every f, for dual points
   made of weights and for marginals; with CheckerUpper.v the gap that the file prints follows. *)
From Coq Require Import Reals ZArith QArith Qreals List Bool Sorted Permutation Lra Lia.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses Flow GaleRyser Deficiency.
From Formal Require Import CheckerSums Checker CheckerUpper.
Import ListNotations.
Open Scope R_scope.

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
Hypothesis some_pairs : (0 < pairs A B)%Z.
Variables lam scale : Q.
Hypothesis lam_pos : 0 < Q2R lam.
Hypothesis scale_range : 0 <= Q2R scale <= 1.

Let loss_at := F pos neg P a N b d x y lam.

Lemma mass_rows U : mass A (map U pos) = zsum pos (fun i => a i * U i)%Z.
Proof.
  unfold mass, A, rows_of. clear. induction pos as [|i l IH]; simpl; [reflexivity|]. now rewrite IH.
Qed.

Lemma mass_columns V : mass B (map V neg) = zsum neg (fun j => b j * V j)%Z.
Proof.
  unfold mass, B, columns_of. clear. induction neg as [|i l IH]; simpl; [reflexivity|]. now rewrite IH.
Qed.

(* What `pull` promises of its result, with the error of its floating point inside. *)
Definition pull_bound (U : I -> Z) (V : J -> Z) (flow : Z) (G : nat -> Q) (far : nat -> R) : Prop :=
  forall q, In q (seq 0 d) ->
  (forall i, In i pos -> Rabs ((sub (x i) offset : Rd d) q) <= far q) /\
  (forall j, In j neg -> Rabs ((sub (y j) offset : Rd d) q) <= far q) /\
  Rabs (\sum_(i <- pos) IZR (a i * U i) * (sub (x i) offset : Rd d) q
        - \sum_(j <- neg) IZR (b j * V j) * (sub (y j) offset : Rd d) q)
  + IZR (Checker.missing A B (map U pos) (map V neg) flow) * far q <= Q2R (G q).

Lemma loss_nonneg f : 0 <= loss_at f.
Proof.
  unfold loss_at, F, all_pairs. apply Rplus_le_le_0_compat.
  - apply sum_nonneg. intros i Hi. apply sum_nonneg. intros j Hj. apply Rmult_le_pos.
    + now apply mean_weight_nonneg.
    + apply hinge_nonneg.
  - apply Rmult_le_pos; [lra|apply dot_pos].
Qed.

Theorem lower_of_flow cap flow U V (flows : I -> J -> R) G far :
  (0 < cap)%Z ->
  feasible pos neg (fun i j => IZR (cap * (a i * b j))) (fun i => IZR (a i * U i))
    (fun j => IZR (b j * V j)) flows ->
  total pos neg flows = IZR flow -> pull_bound U V flow G far ->
  forall f, Q2R (lower cap flow A B scale lam (map G (seq 0 d))) <= loss_at f.
Proof.
  intros C Fe T Pull f.
  pose proof (pairs_pos pos neg P a N b some_pairs) as Pp. fold A B in Pp.
  assert (0 < IZR cap) as Cp by now apply IZR_lt.
  set (s := Q2R scale / (IZR cap * IZR (pairs A B))).
  assert (0 <= s) as S0.
  { apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption. }
  set (k := fun i => sub (x i) offset). set (l := fun j => sub (y j) offset).
  set (sf := fun i j => s * flows i j).
  assert (flow_within pos neg (mean_weight pos neg P a N b) sf) as W.
  { intros i j Hi Hj. destruct (proj1 Fe i j Hi Hj) as [F0 F1]. unfold sf. split.
    - now apply Rmult_le_pos.
    - apply Rle_trans with (s * IZR (cap * (a i * b j))); [now apply Rmult_le_compat_l|].
      unfold mean_weight. fold A B. rewrite mult_IZR. unfold s.
      apply Rle_trans with (Q2R scale * (IZR (a i * b j) / IZR (pairs A B))).
      + right. field. lra.
      + rewrite <- (Rmult_1_l (IZR (a i * b j) / _)) at 2. apply Rmult_le_compat_r; [|lra].
        pose proof (mean_weight_nonneg pos neg P a N b a_pos b_pos some_pairs i j Hi Hj) as Q. exact Q. }
  pose proof (weak_duality_marginals pos neg (mean_weight pos neg P a N b) k l sf (Q2R lam) lam_pos W f)
    as D.
  assert (all_pairs pos neg (mean_weight pos neg P a N b) k l hinge f
          = all_pairs pos neg (mean_weight pos neg P a N b) x y hinge f) as Same.
  { unfold all_pairs, k, l. apply sum_ext. intros i _. apply sum_ext. intros j _.
    rewrite !dot_sub_r. do 2 f_equal. ring. }
  rewrite Same in D. clear Same.
  assert (sum pos (row_sum neg sf) = s * IZR flow) as Mass.
  { rewrite <- T. unfold total, row_sum, sf. rewrite <- sum_scal. apply sum_ext. intros. apply sum_scal. }
  assert (norm2 (marginal_pull pos neg k l (row_sum neg sf) (column_sum pos sf))
          <= s * s * \sum_(q <- seq 0 d) Q2R (G q) * Q2R (G q)) as Square.
  { unfold norm2. simpl dot. rewrite <- sum_scal. apply sum_le. intros q Hq.
    destruct (Pull q Hq) as [Kp [Kn Gq]].
    assert ((marginal_pull pos neg k l (row_sum neg sf) (column_sum pos sf) : Rd d) q
      = s * (\sum_(i <- pos) row_sum neg flows i * (k i : Rd d) q
             - \sum_(j <- neg) column_sum pos flows j * (l j : Rd d) q)) as E.
    { unfold marginal_pull. transitivity ((vsum pos (fun i => scal (row_sum neg sf i) (k i)) : Rd d) q
        - (vsum neg (fun j => scal (column_sum pos sf j) (l j)) : Rd d) q).
      - unfold sub. simpl. ring.
      - rewrite !coordinate_vsum, Rmult_minus_distr_l, <- !sum_scal. f_equal; apply sum_ext; intros i _;
        simpl; unfold row_sum, column_sum, sf; rewrite sum_scal; apply Rmult_assoc. }
    set (g := \sum_(i <- pos) row_sum neg flows i * (k i : Rd d) q
             - \sum_(j <- neg) column_sum pos flows j * (l j : Rd d) q) in *.
    assert (Rabs g <= Q2R (G q)) as Bound.
    { apply Rle_trans with (2 := Gq).
      pose proof (pull_of_flow pos neg _ _ _ flows (IZR flow) Fe T
        (fun i => (k i : Rd d) q) (fun j => (l j : Rd d) q) (far q) Kp Kn) as Q.
      apply Rle_trans with (1 := Q). right. f_equal. f_equal. unfold Checker.missing.
      rewrite mass_rows, mass_columns, minus_IZR, plus_IZR, mult_IZR, !IZR_zsum. reflexivity. }
    apply Rle_trans with (s * g * (s * g)); [right; rewrite <- E; reflexivity|].
    replace (s * g * (s * g)) with (s * s * (Rabs g * Rabs g)).
    - rewrite !Rmult_assoc. do 2 (apply Rmult_le_compat_l; [exact S0|]).
      apply Rmult_le_compat; try apply Rabs_pos; exact Bound.
    - rewrite <- Rabs_mult, (Rabs_pos_eq (g * g)) by apply Rle_0_sqr. ring. }
  unfold lower. destruct Qle_bool; [rewrite Q2R_zero; apply loss_nonneg|].
  assert (~ (inject_Z (cap * pairs A B) == 0)%Q) as NZ by (apply not_zero; nia).
  assert (~ (2 * lam == 0)%Q) as NL.
  { intro E. apply Qeq_eqR in E. rewrite Q2R_mult, Q2R_whole, Q2R_zero in E. lra. }
  rewrite Q2R_minus, (Q2R_div _ (2 * lam)), !Q2R_mult, !Q2R_div, !Q2R_inject, Q2R_squares, Q2R_whole
    by assumption.
  rewrite !mult_IZR. fold s. apply Rle_trans with (2 := D). rewrite Mass. apply Rplus_le_compat_l.
  apply Ropp_le_contravar. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|exact Square].
Qed.

(* kind "weights": alpha = clip(N - P, 0, cap) / cap of binned scores, whatever the scores are. *)
Section Weights.
Variables (q bins : nat) (half : Z).
Hypothesis half_pos : (0 <= half)%Z.

Let shift (s : Z) : Z := Z.shiftr s (Z.of_nat q - Z.of_nat bins).
Let P' (i : I) : Z := (shift (P i) + (- 2 ^ Z.of_nat bins - half))%Z.
Let N' (j : J) : Z := shift (N j).
Let cap := cap_of half.

Definition U_of (i : I) : Z := ramp (binned q bins B) (P' i) cap.
Definition V_of (j : J) : Z := ramp (negated (margins q bins half A)) (- N' j) cap.

Lemma cap_pos : (0 < cap)%Z.
Proof. unfold cap, cap_of. destruct (Z.eqb_spec half 0); lia. Qed.

Lemma weights_u_is : weights_u q bins half A B = map U_of pos.
Proof.
  unfold weights_u, margins, binned, shifted, A, rows_of. rewrite !map_map. reflexivity.
Qed.

Lemma weights_v_is : weights_v q bins half A B = map V_of neg.
Proof. unfold weights_v, binned, B, columns_of. rewrite !map_map. reflexivity. Qed.

Let flows (i : I) (j : J) : R := IZR (a i * b j * clip 0 cap (N' j - P' i)).

Lemma weights_feasible :
  feasible pos neg (fun i j => IZR (cap * (a i * b j))) (fun i => IZR (a i * U_of i))
    (fun j => IZR (b j * V_of j)) flows.
Proof.
  pose proof cap_pos as C. split; [|split].
  - intros i j Hi Hj. pose proof (a_pos i Hi). pose proof (b_pos j Hj). unfold flows, clip.
    split; apply IZR_le; nia.
  - intros i _. right. unfold row_sum, flows. rewrite <- IZR_zsum. f_equal.
    unfold U_of. rewrite ramp_meaning by lia. unfold binned, B, columns_of.
    rewrite !zsum_map, <- zsum_scal. apply zsum_ext. intros j _. simpl. unfold N', shift. ring.
  - intros j _. right. unfold column_sum, flows. rewrite <- IZR_zsum. f_equal.
    unfold V_of. rewrite ramp_meaning by lia. unfold negated, margins, binned, shifted, A, rows_of.
    rewrite !zsum_map, <- zsum_scal. apply zsum_ext. intros i _. simpl.
    replace (- (Z.shiftr (P i) (Z.of_nat q - Z.of_nat bins) + (- 2 ^ Z.of_nat bins - half)) - - N' j)%Z
      with (N' j - P' i)%Z by (unfold P', shift; lia). ring.
Qed.

Theorem weights_sound G far :
  let u := weights_u q bins half A B in
  let flow := mass A u in
  pull_bound U_of V_of flow G far ->
  forall f, Q2R (lower cap flow A B scale lam (map G (seq 0 d))) <= loss_at f.
Proof.
  intros u flow Pull. apply lower_of_flow with (U := U_of) (V := V_of) (flows := flows) (far := far).
  - apply cap_pos.
  - apply weights_feasible.
  - unfold flow, u. rewrite weights_u_is, mass_rows, IZR_zsum. unfold total. apply sum_ext.
    intros i Hi. destruct weights_feasible as [_ [Rw _]]. unfold flows. rewrite <- IZR_zsum. f_equal.
    unfold U_of. rewrite ramp_meaning by (pose proof cap_pos; lia). unfold binned, B, columns_of.
    rewrite !zsum_map, <- zsum_scal. apply zsum_ext. intros j _. simpl. unfold N', shift. ring.
  - exact Pull.
Qed.
End Weights.
End Proof.
