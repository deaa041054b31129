(* docs/certificates.md, when (u, v) are marginals: caps a_i b_j, rows by ratio u_i / a_i.
   The order is written without division, u_k a_i <= u_i a_k for i before k, so that rows of weight
   zero have a place too: first if they carry something, anywhere if not. *)
From Coq Require Import Reals Lra List Bool Sorted Psatz.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses Flow.
Import ListNotations.
Open Scope R_scope.

Section GaleRyser.
Context {I J : Type} (cols : list J) (a u : I -> R) (b v : J -> R).

Definition by_ratio : list I -> Prop := StronglySorted (fun i k => u k * a i <= u i * a k).

(* phi(A) = sum_j min(v_j, b_j A) *)
Definition through (A : R) : R := \sum_(j <- cols) Rmin (v j) (b j * A).

(* min over k of sum u - (u of the first k rows) + phi(A_k), A the weight of the rows before. *)
Fixpoint least_from (A : R) (rows : list I) : R :=
  match rows with
  | [] => through A
  | i :: rest => Rmin (sum (i :: rest) u + through A) (least_from (A + a i) rest)
  end.

Definition largest_flow (rows : list I) : R := least_from 0 rows.

Lemma least_below A l1 : forall l2, least_from A (l1 ++ l2) <= sum l2 u + through (A + sum l1 a).
Proof.
  revert A. induction l1 as [|i l1 IH]; intros A l2; simpl app.
  - change (sum [] a) with 0. rewrite Rplus_0_r. destruct l2 as [|k l2]; simpl; [lra|apply Rmin_l].
  - simpl least_from. apply Rle_trans with (1 := Rmin_r _ _).
    apply Rle_trans with (1 := IH (A + a i) l2). rewrite (sum_cons i l1 a), <- Rplus_assoc. apply Rle_refl.
Qed.

Lemma least_attained A l : exists l1 l2, l = l1 ++ l2 /\
  least_from A l = sum l2 u + through (A + sum l1 a).
Proof.
  revert A. induction l as [|i l IH]; intro A.
  - exists [], []. simpl. split; [reflexivity|]. rewrite Rplus_0_r. lra.
  - destruct (IH (A + a i)) as [l1 [l2 [E L]]]. simpl least_from. unfold Rmin. destruct Rle_dec.
    + exists [], (i :: l). change (sum [] a) with 0. rewrite Rplus_0_r. now split.
    + exists (i :: l1), l2. split; [now rewrite E|]. rewrite L, (sum_cons i l1 a).
      now rewrite <- Rplus_assoc.
Qed.

Hypothesis b_pos : forall j, In j cols -> 0 <= b j.
Hypothesis v_pos : forall j, In j cols -> 0 <= v j.

Lemma through_concave A B t : 0 <= t <= 1 ->
  (1 - t) * through A + t * through B <= through ((1 - t) * A + t * B).
Proof.
  intro T. unfold through. rewrite <- !sum_scal, <- sum_add. apply sum_le. intros j Hj.
  specialize (b_pos j Hj).
  replace (b j * ((1 - t) * A + t * B)) with ((1 - t) * (b j * A) + t * (b j * B)) by ring.
  apply Rmin_glb.
  - pose proof (Rmin_l (v j) (b j * A)). pose proof (Rmin_l (v j) (b j * B)). nra.
  - pose proof (Rmin_r (v j) (b j * A)). pose proof (Rmin_r (v j) (b j * B)). nra.
Qed.

(* The prefix whose weight A lies in: between two prefixes, or beyond all of them. *)
Lemma prefix_at l A : (forall i, In i l -> 0 <= a i) -> 0 <= A ->
  sum l a <= A \/
  exists l1 r l2, l = l1 ++ r :: l2 /\ 0 < a r /\ sum l1 a <= A <= sum l1 a + a r.
Proof.
  intros P. revert A. induction l as [|i l IH]; intros A HA; [left; simpl; lra|].
  destruct (Rle_or_lt (a i) A) as [L|L].
  - destruct (IH ltac:(intros; apply P; now right) (A - a i) ltac:(lra)) as [D|[l1 [r [l2 [E [R S]]]]]].
    + left. simpl. lra.
    + right. exists (i :: l1), r, l2. rewrite E. simpl. repeat split; lra.
  - right. exists [], i, l. simpl. repeat split; try lra.
Qed.

Lemma sorted_split l1 r l2 : by_ratio (l1 ++ r :: l2) ->
  (forall i, In i l1 -> u r * a i <= u i * a r) /\ (forall k, In k l2 -> u k * a r <= u r * a k).
Proof.
  unfold by_ratio. induction l1 as [|i l1 IH]; simpl; intro Srt; apply StronglySorted_inv in Srt;
  destruct Srt as [Srt F]; rewrite Forall_forall in F.
  - split; [tauto|exact F].
  - destruct (IH Srt) as [H1 H2]. split; [|exact H2].
    intros k [<-|Hk]; [|auto]. apply F. rewrite in_app_iff. right. now left.
Qed.

(* The fractional knapsack: no set of rows of this weight carries more than the prefix. *)
Lemma knapsack l1 r l2 (S : I -> bool) t :
  (forall i, In i (l1 ++ r :: l2) -> 0 <= a i) -> 0 < a r -> by_ratio (l1 ++ r :: l2) ->
  \sum_(i <- l1 ++ r :: l2) only (S i) (a i) = sum l1 a + t * a r ->
  \sum_(i <- l1 ++ r :: l2) only (S i) (u i) <= sum l1 u + t * u r.
Proof.
  intros P R Srt E. destruct (sorted_split l1 r l2 Srt) as [H1 H2].
  apply Rmult_le_reg_l with (a r); [exact R|].
  assert (\sum_(i <- l1 ++ r :: l2) only (S i) (a r * u i - u r * a i)
          <= \sum_(i <- l1) (a r * u i - u r * a i)) as K.
  { rewrite sum_app, sum_cons.
    assert (\sum_(i <- l1) only (S i) (a r * u i - u r * a i) <= \sum_(i <- l1) (a r * u i - u r * a i)).
    { apply sum_le. intros i Hi. specialize (H1 i Hi). destruct (S i); simpl; lra. }
    assert (\sum_(i <- l2) only (S i) (a r * u i - u r * a i) <= \sum_(i <- l2) 0).
    { apply sum_le. intros i Hi. specialize (H2 i Hi). destruct (S i); simpl; lra. }
    rewrite (sum_zero l2 (fun _ => 0)) in * by reflexivity. destruct (S r); simpl; lra. }
  rewrite (sum_ext _ _ (fun i => a r * only (S i) (u i) - u r * only (S i) (a i))) in K
    by (intros i _; destruct (S i); simpl; ring).
  rewrite !sum_sub, !sum_scal, E in K. lra.
Qed.

Lemma weight_within l (S : I -> bool) : (forall i, In i l -> 0 <= a i) ->
  0 <= \sum_(i <- l) only (S i) (a i) <= sum l a.
Proof.
  intro P. split; [apply sum_nonneg|apply sum_le]; intros i Hi; specialize (P i Hi);
  destruct (S i); simpl; lra.
Qed.

Lemma complement l (S : I -> bool) :
  \sum_(i <- l) only (negb (S i)) (u i) = sum l u - \sum_(i <- l) only (S i) (u i).
Proof. rewrite <- sum_sub. apply sum_ext. intros i _. destruct (S i); simpl; lra. Qed.

(* Prefixes suffice: no other set of rows makes a smaller cut. *)
Lemma prefixes_suffice l (S : I -> bool) :
  (forall i, In i l -> 0 <= a i) -> (forall i, In i l -> 0 <= u i) -> by_ratio l ->
  largest_flow l <= \sum_(i <- l) only (negb (S i)) (u i) + through (\sum_(i <- l) only (S i) (a i)).
Proof.
  intros P U Srt. destruct (weight_within l S P) as [A0 A1].
  set (A := \sum_(i <- l) only (S i) (a i)) in *.
  destruct (prefix_at l A P A0) as [Full|[l1 [r [l2 [E [Rp [Lo Hi]]]]]]].
  - replace A with (sum l a) by lra. pose proof (least_below 0 l []) as B.
    change (sum [] u) with 0 in B. rewrite app_nil_r, !Rplus_0_l in B. unfold largest_flow.
    assert (0 <= \sum_(i <- l) only (negb (S i)) (u i))
      by (apply sum_nonneg; intros; apply only_nonneg; auto). lra.
  - set (t := (A - sum l1 a) / a r).
    assert (A = sum l1 a + t * a r) as T by (unfold t; field; lra).
    assert (0 <= t <= 1) as T01.
    { assert (t * a r = A - sum l1 a) by lra. split; apply Rmult_le_reg_r with (a r); lra. }
    pose proof (through_concave (sum l1 a) (sum l1 a + a r) t T01) as C.
    replace ((1 - t) * sum l1 a + t * (sum l1 a + a r)) with A in C by (rewrite T; ring).
    rewrite complement.
    assert (\sum_(i <- l) only (S i) (u i) <= sum l1 u + t * u r) as K.
    { rewrite E in P, Srt |- *. apply (knapsack l1 r l2 S t P Rp Srt). rewrite <- E, <- T. reflexivity. }
    pose proof (least_below 0 l1 (r :: l2)) as B1. pose proof (least_below 0 (l1 ++ [r]) l2) as B2.
    rewrite <- app_assoc in B2. simpl app in B2. rewrite <- E in B1, B2.
    rewrite sum_app in B2. simpl sum in B1, B2. rewrite ?Rplus_0_l, ?Rplus_0_r in *.
    fold (largest_flow l) in B1, B2. rewrite E, sum_app. simpl sum. rewrite <- E. nra.
Qed.
End GaleRyser.

Section Flows.
Context {I J : Type} (rows : list I) (cols : list J) (a u : I -> R) (b v : J -> R).
Hypothesis decI : forall x y : I, {x = y} + {x <> y}.
Hypothesis decJ : forall x y : J, {x = y} + {x <> y}.
Hypothesis rows_distinct : NoDup rows.
Hypothesis cols_distinct : NoDup cols.
Hypothesis a_pos : forall i, In i rows -> 0 <= a i.
Hypothesis b_pos : forall j, In j cols -> 0 <= b j.
Hypothesis u_pos : forall i, In i rows -> 0 <= u i.
Hypothesis v_pos : forall j, In j cols -> 0 <= v j.
Hypothesis sorted : by_ratio a u rows.

Let M := largest_flow cols a u b v rows.
Let caps (i : I) (j : J) : R := a i * b j.

Lemma cut_of_product S :
  cut_of rows cols caps u v S
  = \sum_(i <- rows) only (negb (S i)) (u i) + through cols b v (\sum_(i <- rows) only (S i) (a i)).
Proof.
  unfold cut_of, through, caps. f_equal. apply sum_ext. intros j _. f_equal.
  rewrite <- sum_scal. apply sum_ext. intros i _. destruct (S i); simpl; ring.
Qed.

(* M is the largest total: some flow has it, and no flow has more. *)
Theorem gale_ryser :
  (exists x, feasible rows cols caps u v x /\ total rows cols x = M) /\
  (forall x, feasible rows cols caps u v x -> total rows cols x <= M).
Proof.
  assert (forall x, feasible rows cols caps u v x -> total rows cols x <= M) as Upper.
  { intros x F. unfold M, largest_flow.
    destruct (least_attained cols a u b v 0 rows) as [l1 [l2 [E ->]]].
    set (S := fun i => if in_dec decI i l1 then true else false).
    pose proof (flow_below_every_cut rows cols caps u v x S F) as B.
    rewrite cut_of_product in B. apply Rle_trans with (1 := B). right.
    assert (forall i, In i l2 -> ~ In i l1) as Apart.
    { intros i H2 H1. rewrite E in rows_distinct. clear -rows_distinct H1 H2.
      induction l1 as [|k l1 IH]; [contradiction|]. simpl in rows_distinct.
      apply NoDup_cons_iff in rows_distinct. destruct rows_distinct as [Out ND].
      destruct H1 as [->|H1]; [|now apply IH]. apply Out. rewrite in_app_iff. now right. }
    assert (forall i, In i l1 -> S i = true) as S1
      by (intros i Hi; unfold S; destruct (in_dec decI i l1); tauto).
    assert (forall i, In i l2 -> S i = false) as S2
      by (intros i Hi; unfold S; destruct (in_dec decI i l1); [exfalso; now apply (Apart i)|tauto]).
    rewrite E, !sum_app.
    rewrite (sum_zero l1 (fun i => only (negb (S i)) (u i))) by (intros i Hi; now rewrite S1).
    rewrite (sum_ext l2 (fun i => only (negb (S i)) (u i)) u) by (intros i Hi; now rewrite S2).
    rewrite (sum_ext l1 (fun i => only (S i) (a i)) a) by (intros i Hi; now rewrite S1).
    rewrite (sum_zero l2 (fun i => only (S i) (a i))) by (intros i Hi; now rewrite S2).
    rewrite Rplus_0_l, Rplus_0_l, Rplus_0_r. reflexivity. }
  split; [|exact Upper].
  destruct (max_flow rows cols caps u v decI decJ rows_distinct cols_distinct) with (m := M)
    as [x [F T]]; auto.
  - intros i j Hi Hj. apply Rmult_le_pos; auto.
  - intro S. rewrite cut_of_product. now apply prefixes_suffice.
  - exists x. split; [exact F|]. apply Rle_antisym; [now apply Upper|exact T].
Qed.

(* So (u, v) are marginals exactly if sum u = sum v = M. *)
Theorem marginals_iff :
  (exists x, flow_within rows cols caps x /\ (forall i, In i rows -> row_sum cols x i = u i) /\
             (forall j, In j cols -> column_sum rows x j = v j))
  <-> (sum rows u = M /\ sum cols v = M).
Proof.
  destruct gale_ryser as [[x [[W [Rw Cl]] T]] Upper]. split.
  - intros [y [Wy [Ry Cy]]].
    assert (feasible rows cols caps u v y) as Fy.
    { split; [exact Wy|split]; intros; right; auto. }
    assert (total rows cols y = sum rows u) as Tu by (apply sum_ext; exact Ry).
    assert (total rows cols y = sum cols v) as Tv
      by (unfold total; rewrite sum_swap; apply sum_ext; exact Cy).
    assert (M <= total rows cols y) as Low.
    { rewrite Tu, <- T. apply sum_le. exact Rw. }
    pose proof (Upper y Fy). lra.
  - intros [Eu Ev]. exists x. split; [exact W|]. split.
    + apply (equal_terms rows); [exact Rw|]. rewrite Eu. exact T.
    + apply (equal_terms cols); [exact Cl|]. rewrite Ev, <- T. unfold total. now rewrite sum_swap.
Qed.
End Flows.
