(* docs/certificates.md, docs/proof-files.md. Ordered pairs in levels, weights zero or one: row i is paired with the columns
   below its level. The largest flow within u and v is min over k_1 .. k_L of
     sum u - sum_l T_l(k_l) + sum_j min(v_j, K_j),
   T_l(k) the k largest u of level l and K_j the number chosen above the level of column j. *)
From Coq Require Import Reals Lra Lia List Bool Arith Sorted.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses Flow.
Import ListNotations.
Open Scope R_scope.

Section Staircase.
Context {I J : Type} (levels : list nat) (level : nat -> list I) (cols : list J) (below : J -> nat).
Variables (height : I -> nat) (u : I -> R) (v : J -> R).
Hypothesis decI : forall x y : I, {x = y} + {x <> y}.
Hypothesis decJ : forall x y : J, {x = y} + {x <> y}.

Definition rows : list I := flat_map level levels.
Hypothesis rows_distinct : NoDup rows.
Hypothesis cols_distinct : NoDup cols.
Hypothesis at_height : forall l i, In l levels -> In i (level l) -> height i = l.
Hypothesis descending : forall l, In l levels -> StronglySorted (fun i k => u k <= u i) (level l).
Hypothesis u_pos : forall i, In i rows -> 0 <= u i.
Hypothesis v_pos : forall j, In j cols -> 0 <= v j.

Definition stair (i : I) (j : J) : R := only (below j <? height i) 1.

(* The right side for one choice of k. *)
Definition staircase (k : nat -> nat) : R :=
  sum rows u - \sum_(l <- levels) sum (firstn (k l) (level l)) u
  + \sum_(j <- cols) Rmin (v j) (\sum_(l <- levels) only (below j <? l) (INR (k l))).

Definition choice (k : nat -> nat) : Prop := forall l, In l levels -> (k l <= length (level l))%nat.

Lemma row_of_level l i : In l levels -> In i (level l) -> In i rows.
Proof. intros. apply in_flat_map. now exists l. Qed.

(* The number of rows of a list in S. *)
Definition count (S : I -> bool) (l : list I) : nat := length (filter S l).

Lemma count_sum S l : \sum_(i <- l) only (S i) 1 = INR (count S l).
Proof.
  unfold count. induction l as [|i l IH]; [reflexivity|]. simpl filter. rewrite sum_cons, IH.
  destruct (S i); simpl only; [|lra]. change (length (i :: filter S l)) with (1 + length (filter S l))%nat.
  rewrite plus_INR. simpl. lra.
Qed.

Lemma one_more (B : R) n : forall l, 0 <= B -> (forall i, In i l -> u i <= B) ->
  sum (firstn (1 + n) l) u <= B + sum (firstn n l) u.
Proof.
  induction n as [|n IH]; intros [|i l] B0 L; simpl; try lra.
  - specialize (L i (or_introl eq_refl)). lra.
  - specialize (IH l B0 ltac:(intros; apply L; now right)). simpl in IH. lra.
Qed.

(* The k largest carry at least as much as any k. *)
Lemma top_k S l : StronglySorted (fun i k => u k <= u i) l -> (forall i, In i l -> 0 <= u i) ->
  \sum_(i <- l) only (S i) (u i) <= sum (firstn (count S l) l) u.
Proof.
  intros Srt. induction Srt as [|i l Srt IH F]; intro P; [simpl; lra|].
  rewrite Forall_forall in F. specialize (IH ltac:(intros; apply P; now right)).
  unfold count in *. simpl filter. rewrite sum_cons. destruct (S i); simpl only; simpl length.
  - simpl firstn. rewrite sum_cons. lra.
  - rewrite Rplus_0_l. apply Rle_trans with (1 := IH).
    destruct (length (filter S l)) as [|n]; [simpl; lra|].
    simpl firstn at 2. rewrite sum_cons. apply one_more; [apply P; now left|exact F].
Qed.

Lemma cut_above S : exists k, choice k /\ staircase k <= cut_of rows cols stair u v S.
Proof.
  exists (fun l => count S (level l)). split.
  { intros l _. unfold count. induction (level l) as [|i m IH]; simpl; [lia|].
    destruct (S i); simpl; lia. }
  unfold staircase, cut_of. apply Rplus_le_compat.
  - assert (sum rows u = \sum_(i <- rows) only (negb (S i)) (u i) + \sum_(i <- rows) only (S i) (u i)) as ->.
    { rewrite <- sum_add. apply sum_ext. intros i _. destruct (S i); simpl; lra. }
    assert (\sum_(i <- rows) only (S i) (u i) <= \sum_(l <- levels) sum (firstn (count S (level l)) (level l)) u).
    { unfold rows. rewrite sum_flat_map. apply sum_le. intros l Hl. apply top_k; [now apply descending|].
      intros i Hi. apply u_pos. now apply row_of_level with l. }
    lra.
  - apply sum_le. intros j _. right. f_equal. unfold rows. rewrite sum_flat_map.
    apply sum_ext. intros l Hl. rewrite <- count_sum.
    transitivity (\sum_(i <- level l) only (below j <? l) (only (S i) 1)).
    + destruct (below j <? l); simpl; [reflexivity|]. symmetry. now apply sum_zero.
    + apply sum_ext. intros i Hi. unfold stair. rewrite (at_height l i Hl Hi).
      destruct (S i), (below j <? l); reflexivity.
Qed.

Lemma distinct_parts (l m : list I) : NoDup (l ++ m) -> forall i, In i l -> ~ In i m.
Proof.
  induction l as [|x l IH]; simpl; intros D i Hi; [tauto|].
  apply NoDup_cons_iff in D. destruct D as [Out D]. rewrite in_app_iff in Out.
  destruct Hi as [->|Hi]; [tauto|now apply IH].
Qed.

Lemma level_distinct l : In l levels -> NoDup (level l).
Proof.
  unfold rows in rows_distinct. clear -rows_distinct. induction levels as [|x r IH]; simpl in *; [tauto|].
  intros [->|H].
  - clear IH. induction (level l) as [|i m IH]; [constructor|]. simpl in rows_distinct.
    apply NoDup_cons_iff in rows_distinct. destruct rows_distinct as [Out D].
    constructor; [|now apply IH]. intro. apply Out. apply in_app_iff. now left.
  - apply IH; [|exact H]. clear -rows_distinct. induction (level x) as [|i m IH]; [exact rows_distinct|].
    simpl in rows_distinct. apply NoDup_cons_iff in rows_distinct. tauto.
Qed.

Lemma staircase_is_a_cut k : choice k -> exists S, cut_of rows cols stair u v S = staircase k.
Proof.
  intro Within.
  exists (fun i => if in_dec decI i (firstn (k (height i)) (level (height i))) then true else false).
  set (S := fun i => _).
  assert (forall l f, In l levels ->
    \sum_(i <- level l) only (S i) (f i) = sum (firstn (k l) (level l)) f) as Chosen.
  { intros l f Hl. rewrite <- (firstn_skipn (k l) (level l)) at 1. rewrite sum_app.
    pose proof (level_distinct l Hl) as D. rewrite <- (firstn_skipn (k l) (level l)) in D.
    pose proof (distinct_parts _ _ D) as Apart.
    assert (forall i, In i (level l) -> height i = l) as Ht by (intros; now apply at_height).
    rewrite (sum_ext (firstn (k l) (level l)) _ f), (sum_zero (skipn (k l) (level l))); [lra| |].
    - intros i Hi. unfold S. rewrite (Ht i).
      + destruct in_dec as [Hin|]; [exfalso; now apply (Apart i)|reflexivity].
      + rewrite <- (firstn_skipn (k l) (level l)). apply in_app_iff. now right.
    - intros i Hi. unfold S. rewrite (Ht i).
      + destruct in_dec; tauto.
      + rewrite <- (firstn_skipn (k l) (level l)). apply in_app_iff. now left. }
  unfold cut_of, staircase. f_equal.
  - transitivity (sum rows u - \sum_(i <- rows) only (S i) (u i)).
    + rewrite <- sum_sub. apply sum_ext. intros i _. destruct (S i); simpl; lra.
    + f_equal. unfold rows. rewrite sum_flat_map. apply sum_ext. intros l Hl. now apply Chosen.
  - apply sum_ext. intros j _. f_equal. unfold rows. rewrite sum_flat_map. apply sum_ext. intros l Hl.
    transitivity (\sum_(i <- level l) only (S i) (only (below j <? l) 1)).
    + apply sum_ext. intros i Hi. unfold stair. now rewrite (at_height l i Hl Hi).
    + rewrite Chosen, sum_const, firstn_length_le by auto.
      destruct (below j <? l); simpl; ring.
Qed.

Theorem staircase_bounds_every_flow x k :
  feasible rows cols stair u v x -> choice k -> total rows cols x <= staircase k.
Proof.
  intros F C. destruct (staircase_is_a_cut k C) as [S <-]. now apply flow_below_every_cut.
Qed.

Theorem staircase_flow M :
  (forall k, choice k -> M <= staircase k) -> (exists k, choice k /\ staircase k = M) ->
  exists x, feasible rows cols stair u v x /\ total rows cols x = M.
Proof.
  intros Least [k [C E]].
  destruct (max_flow rows cols stair u v decI decJ rows_distinct cols_distinct) with (m := M)
    as [x [F T]]; auto.
  - intros i j _ _. unfold stair. apply only_nonneg. lra.
  - intro S. destruct (cut_above S) as [k' [C' L]]. apply Rle_trans with (2 := L). now apply Least.
  - exists x. split; [exact F|]. apply Rle_antisym; [|exact T]. rewrite <- E.
    now apply staircase_bounds_every_flow.
Qed.
End Staircase.
