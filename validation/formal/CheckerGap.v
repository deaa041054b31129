(* docs/proof-files.md: from what exact/proof/check_proof.py evaluates to the gap that it prints, for both
   kinds of dual points. Premises about floating point: the errors of the scores (`slip`) and the
   bounds of the pull (`pull_bound`). *)
From Coq Require Import Reals ZArith QArith Qreals List Lra.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses.
From Formal Require Import CheckerSums Checker CheckerUpper CheckerLower CheckerMarginals.
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

Variables lam scale slip : Q.
Hypothesis lam_pos : 0 < Q2R lam.
Hypothesis scale_range : 0 <= Q2R scale <= 1.
Variables (q : nat) (w : list Q).
Let point : Rd d := fun k => Q2R (nth k w 0%Q).
Let one := (2 ^ Z.of_nat q)%Z.
Hypothesis w_length : length w = d.
Hypothesis pos_scores : forall i, In i pos ->
  2 * Rabs (dot point (sub (x i) offset) - IZR (P i) / IZR one) <= Q2R slip.
Hypothesis neg_scores : forall j, In j neg ->
  2 * Rabs (dot point (sub (y j) offset) - IZR (N j) / IZR one) <= Q2R slip.

(* The objective does not depend on the scores that a file makes its dual point of. *)
Lemma pairs_of_weights P' N' : pairs (rows_of P' a pos) (columns_of N' b neg) = pairs A B.
Proof. unfold pairs, weight, A, B, rows_of, columns_of. now rewrite !zsum_map. Qed.

Let loss_at := F pos neg P a N b d x y lam.

Lemma same_objective P' N' f : F pos neg P' a N' b d x y lam f = loss_at f.
Proof.
  unfold loss_at, F, all_pairs, mean_weight. f_equal. apply sum_ext. intros i _. apply sum_ext. intros j _.
  now rewrite pairs_of_weights.
Qed.

(* kind "marginals" *)
Theorem marginals_gap (U : I -> Z) (V : J -> Z) cap G far gap :
  (forall i, In i pos -> (0 <= U i)%Z) -> (forall j, In j neg -> (0 <= V j)%Z) -> (0 < cap)%Z ->
  let flow := marginals_flow A B (map U pos) (map V neg) cap in
  pull_bound pos neg P a N b d x y offset U V flow G far ->
  (upper q A B slip lam w - lower cap flow A B scale lam (map G (seq 0 d)) <= gap)%Q ->
  forall f, loss_at point - loss_at f <= Q2R gap.
Proof.
  intros Up Vp Cp flow Pull Gap.
  apply (printed_gap loss_at point (upper q A B slip lam w) (lower cap flow A B scale lam (map G (seq 0 d))));
    [| |exact Gap].
  - exact (upper_sound pos neg P a N b d x y offset a_pos b_pos some_pairs lam q slip w w_length pos_scores neg_scores).
  - intro f. exact (marginals_sound pos neg P a N b d x y offset decI decJ pos_distinct neg_distinct a_pos b_pos
      U V cap Up Vp Cp some_pairs lam scale lam_pos scale_range G far Pull f).
Qed.

(* kind "weights": the dual point is made of scores P', N' of any weights, in multiples of 2^-q'. *)
Theorem weights_gap (P' : I -> Z) (N' : J -> Z) q' bins half G far gap : (0 <= half)%Z ->
  let A' := rows_of P' a pos in
  let B' := columns_of N' b neg in
  let flow := mass A' (weights_u q' bins half A' B') in
  pull_bound pos neg P' a N' b d x y offset
    (U_of neg P' N' b q' bins half) (V_of pos P' a N' q' bins half) flow G far ->
  (upper q A B slip lam w - lower (cap_of half) flow A' B' scale lam (map G (seq 0 d)) <= gap)%Q ->
  forall f, loss_at point - loss_at f <= Q2R gap.
Proof.
  intros Hp A' B' flow Pull Gap.
  assert (0 < pairs A' B')%Z as some' by (unfold A', B'; now rewrite pairs_of_weights).
  apply (printed_gap loss_at point (upper q A B slip lam w)
    (lower (cap_of half) flow A' B' scale lam (map G (seq 0 d)))); [| |exact Gap].
  - exact (upper_sound pos neg P a N b d x y offset a_pos b_pos some_pairs lam q slip w w_length pos_scores neg_scores).
  - intro f. rewrite <- (same_objective P' N').
    exact (weights_sound pos neg P' a N' b d x y offset a_pos b_pos some' lam scale lam_pos scale_range
      q' bins half Hp G far Pull f).
Qed.
End Proof.
