(* docs/certificates.md. Largest flow = least cut between rows and columns, for any caps, real
   marginals, and without linear programming: one edge after the other is given as much as every cut
   still needs, which submodularity of cuts allows. *)
From Coq Require Import Reals Lra List Bool Psatz.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses.
Import ListNotations.
Open Scope R_scope.

(* x if b, else 0 *)
Definition only (b : bool) (x : R) : R := if b then x else 0.

Section Edges.
Context {I J : Type} (rows : list I) (cols : list J) (c : I * J -> R).
Hypothesis decI : forall x y : I, {x = y} + {x <> y}.
Hypothesis decJ : forall x y : J, {x = y} + {x <> y}.
Hypothesis rows_distinct : NoDup rows.
Hypothesis cols_distinct : NoDup cols.

Definition isI (x y : I) : bool := if decI x y then true else false.
Definition isJ (x y : J) : bool := if decJ x y then true else false.

Definition decE (x y : I * J) : {x = y} + {x <> y}.
Proof. decide equality. Defined.

(* The cut that has the rows S and the columns T on the side of the source. *)
Definition cut (u : I -> R) (v : J -> R) (E : list (I * J)) (S : I -> bool) (T : J -> bool) : R :=
  \sum_(i <- rows) only (negb (S i)) (u i) + \sum_(j <- cols) only (T j) (v j)
  + \sum_(e <- E) only (S (fst e) && negb (T (snd e))) (c e).

Lemma only_add b x y : only b (x + y) = only b x + only b y.
Proof. destruct b; simpl; lra. Qed.

Lemma only_nonneg b x : 0 <= x -> 0 <= only b x.
Proof. destruct b; simpl; lra. Qed.

Lemma cut_submodular u v E S T S' T' :
  (forall e, In e E -> 0 <= c e) ->
  cut u v E (fun i => S i && S' i) (fun j => T j && T' j)
  + cut u v E (fun i => S i || S' i) (fun j => T j || T' j) <= cut u v E S T + cut u v E S' T'.
Proof.
  intro C. unfold cut.
  assert (\sum_(i <- rows) only (negb (S i && S' i)) (u i)
        + \sum_(i <- rows) only (negb (S i || S' i)) (u i)
        = \sum_(i <- rows) only (negb (S i)) (u i) + \sum_(i <- rows) only (negb (S' i)) (u i)) as A.
  { rewrite <- !sum_add. apply sum_ext. intros i _. destruct (S i), (S' i); simpl; lra. }
  assert (\sum_(j <- cols) only (T j && T' j) (v j) + \sum_(j <- cols) only (T j || T' j) (v j)
        = \sum_(j <- cols) only (T j) (v j) + \sum_(j <- cols) only (T' j) (v j)) as B.
  { rewrite <- !sum_add. apply sum_ext. intros j _. destruct (T j), (T' j); simpl; lra. }
  assert (\sum_(e <- E) only (S (fst e) && S' (fst e) && negb (T (snd e) && T' (snd e))) (c e)
        + \sum_(e <- E) only ((S (fst e) || S' (fst e)) && negb (T (snd e) || T' (snd e))) (c e)
        <= \sum_(e <- E) only (S (fst e) && negb (T (snd e))) (c e)
        + \sum_(e <- E) only (S' (fst e) && negb (T' (snd e))) (c e)) as D.
  { rewrite <- !sum_add. apply sum_le. intros e He. specialize (C e He).
    destruct (S (fst e)), (S' (fst e)), (T (snd e)), (T' (snd e)); simpl; lra. }
  lra.
Qed.

Lemma row_lowered u S i0 x0 : In i0 rows ->
  \sum_(i <- rows) only (negb (S i)) (if decI i i0 then u i - x0 else u i)
  = \sum_(i <- rows) only (negb (S i)) (u i) - only (negb (S i0)) x0.
Proof.
  intro Hi. rewrite <- (sum_pick decI rows i0 (fun i => only (negb (S i)) x0) rows_distinct Hi).
  rewrite <- sum_sub. apply sum_ext. intros i _. destruct (decI i i0), (S i); simpl; lra.
Qed.

Lemma column_lowered v T j0 x0 : In j0 cols ->
  \sum_(j <- cols) only (T j) (if decJ j j0 then v j - x0 else v j)
  = \sum_(j <- cols) only (T j) (v j) - only (T j0) x0.
Proof.
  intro Hj. rewrite <- (sum_pick decJ cols j0 (fun j => only (T j) x0) cols_distinct Hj).
  rewrite <- sum_sub. apply sum_ext. intros j _. destruct (decJ j j0), (T j); simpl; lra.
Qed.

Lemma cut_without_row u v E S T i0 : (forall e, In e E -> 0 <= c e) -> In i0 rows -> S i0 = true ->
  cut u v E (fun i => S i && negb (isI i i0)) T
    + \sum_(e <- E) only (isI (fst e) i0 && negb (T (snd e))) (c e) <= cut u v E S T + u i0.
Proof.
  intros C Hi Si. unfold cut.
  assert (\sum_(i <- rows) only (negb (S i && negb (isI i i0))) (u i)
    = \sum_(i <- rows) only (negb (S i)) (u i) + u i0) as A.
  { rewrite <- (sum_pick decI rows i0 u rows_distinct Hi). rewrite <- sum_add.
    apply sum_ext. intros i _. unfold isI. destruct (decI i i0) as [->|]; simpl;
    [rewrite Si|destruct (S i)]; simpl; lra. }
  assert (\sum_(e <- E) only (S (fst e) && negb (isI (fst e) i0) && negb (T (snd e))) (c e)
    + \sum_(e <- E) only (isI (fst e) i0 && negb (T (snd e))) (c e)
    <= \sum_(e <- E) only (S (fst e) && negb (T (snd e))) (c e)) as B.
  { rewrite <- sum_add. apply sum_le. intros e He. specialize (C e He). unfold isI.
    destruct (decI (fst e) i0) as [->|]; [rewrite Si|destruct (S (fst e))];
    destruct (T (snd e)); simpl; lra. }
  lra.
Qed.

Lemma cut_with_column u v E S T j0 : (forall e, In e E -> 0 <= c e) -> In j0 cols -> T j0 = false ->
  cut u v E S (fun j => T j || isJ j j0)
    + \sum_(e <- E) only (isJ (snd e) j0 && S (fst e)) (c e) <= cut u v E S T + v j0.
Proof.
  intros C Hj Tj. unfold cut.
  assert (\sum_(j <- cols) only (T j || isJ j j0) (v j)
    = \sum_(j <- cols) only (T j) (v j) + v j0) as A.
  { rewrite <- (sum_pick decJ cols j0 v cols_distinct Hj). rewrite <- sum_add.
    apply sum_ext. intros j _. unfold isJ. destruct (decJ j j0) as [->|]; simpl;
    [rewrite Tj|destruct (T j)]; simpl; lra. }
  assert (\sum_(e <- E) only (S (fst e) && negb (T (snd e) || isJ (snd e) j0)) (c e)
    + \sum_(e <- E) only (isJ (snd e) j0 && S (fst e)) (c e)
    <= \sum_(e <- E) only (S (fst e) && negb (T (snd e))) (c e)) as B.
  { rewrite <- sum_add. apply sum_le. intros e He. specialize (C e He). unfold isJ.
    destruct (decJ (snd e) j0) as [->|]; [rewrite Tj|destruct (T (snd e))];
    destruct (S (fst e)); simpl; lra. }
  lra.
Qed.

(* What one edge has to carry so that the rest can still carry the rest. *)
Lemma amount_on_edge u v E i0 j0 m :
  (forall e, In e ((i0, j0) :: E) -> 0 <= c e) -> In i0 rows -> In j0 cols ->
  0 <= u i0 -> 0 <= v j0 -> (forall S T, m <= cut u v ((i0, j0) :: E) S T) ->
  exists x, 0 <= x <= c (i0, j0) /\ x <= u i0 /\ x <= v j0 /\
    (forall S T, S i0 = true -> T j0 = false ->
       m + c (i0, j0) - cut u v ((i0, j0) :: E) S T <= x) /\
    (forall S T, S i0 = false -> T j0 = true -> x <= cut u v ((i0, j0) :: E) S T - m).
Proof.
  intros C Hi Hj Ui Vj M.
  assert (0 <= c (i0, j0)) as C0 by (apply C; now left).
  assert (isI i0 i0 = true) as Ii by (unfold isI; destruct (decI i0 i0); tauto).
  assert (isJ j0 j0 = true) as Jj by (unfold isJ; destruct (decJ j0 j0); tauto).
  set (B := fun z => z = 0 \/ exists S T, S i0 = true /\ T j0 = false /\
                     z = m + c (i0, j0) - cut u v ((i0, j0) :: E) S T).
  assert (is_upper_bound B (c (i0, j0))) as Bc.
  { intros z [->|[S [T [_ [_ ->]]]]]; [exact C0|]. specialize (M S T). lra. }
  destruct (completeness B) as [x [Ub Least]].
  { exists (c (i0, j0)). exact Bc. }
  { exists 0. now left. }
  exists x. repeat split.
  - apply Ub. now left.
  - apply Least, Bc.
  - apply Least. intros z [->|[S [T [Si [Tj ->]]]]]; [exact Ui|].
    pose proof (cut_without_row u v _ S T i0 C Hi Si) as Q. specialize (M (fun i => S i && negb (isI i i0)) T).
    simpl sum in Q at 1. rewrite Ii, Tj in Q. simpl only in Q at 1.
    assert (0 <= \sum_(e <- E) only (isI (fst e) i0 && negb (T (snd e))) (c e))
      by (apply sum_nonneg; intros; apply only_nonneg, C; now right). lra.
  - apply Least. intros z [->|[S [T [Si [Tj ->]]]]]; [exact Vj|].
    pose proof (cut_with_column u v _ S T j0 C Hj Tj) as Q. specialize (M S (fun j => T j || isJ j j0)).
    simpl sum in Q at 1. rewrite Jj, Si in Q. simpl only in Q at 1.
    assert (0 <= \sum_(e <- E) only (isJ (snd e) j0 && S (fst e)) (c e))
      by (apply sum_nonneg; intros; apply only_nonneg, C; now right). lra.
  - intros S T Si Tj. apply Ub. right. now exists S, T.
  - intros S' T' Si' Tj'. apply Least. intros z [->|[S [T [Si [Tj ->]]]]].
    + specialize (M S' T'). lra.
    + pose proof (M (fun i => S i && S' i) (fun j => T j && T' j)) as M1.
      pose proof (M (fun i => S i || S' i) (fun j => T j || T' j)) as M2.
      pose proof (cut_submodular u v E S T S' T' ltac:(intros; apply C; now right)) as Q.
      unfold cut in *. simpl sum in *. rewrite ?Si, ?Tj, ?Si', ?Tj' in *. simpl in *. lra.
Qed.

Definition row_flow (E : list (I * J)) (x : I * J -> R) (i : I) : R :=
  \sum_(e <- E) only (isI (fst e) i) (x e).
Definition column_flow (E : list (I * J)) (x : I * J -> R) (j : J) : R :=
  \sum_(e <- E) only (isJ (snd e) j) (x e).

Lemma flow_on_edges E : NoDup E -> forall u v m,
  (forall e, In e E -> In (fst e) rows /\ In (snd e) cols /\ 0 <= c e) ->
  (forall i, In i rows -> 0 <= u i) -> (forall j, In j cols -> 0 <= v j) ->
  (forall S T, m <= cut u v E S T) ->
  exists x, (forall e, In e E -> 0 <= x e <= c e) /\
            (forall i, In i rows -> row_flow E x i <= u i) /\
            (forall j, In j cols -> column_flow E x j <= v j) /\ m <= sum E x.
Proof.
  induction 1 as [|[i0 j0] E Out ND IH]; intros u v m C U V M.
  - exists (fun _ => 0). repeat split; unfold row_flow, column_flow; simpl; auto; try tauto.
    specialize (M (fun _ => true) (fun _ => false)). unfold cut in M. simpl in M.
    rewrite !sum_zero in M by reflexivity. lra.
  - destruct (C (i0, j0) (or_introl eq_refl)) as [Hi [Hj C0]]. simpl in Hi, Hj.
    destruct (amount_on_edge u v E i0 j0 m) as [x0 [[X0 Xc] [Xu [Xv [Lo Hi']]]]]; auto.
    { intros e He. now apply C. }
    destruct (IH (fun i => if decI i i0 then u i - x0 else u i)
                 (fun j => if decJ j j0 then v j - x0 else v j) (m - x0)) as [x [Xe [Xr [Xk Xm]]]].
    + intros e He. apply C. now right.
    + intros i Hin. specialize (U i Hin). destruct (decI i i0) as [->|]; lra.
    + intros j Hin. specialize (V j Hin). destruct (decJ j j0) as [->|]; lra.
    + intros S T. unfold cut at 1. rewrite row_lowered, column_lowered by assumption.
      specialize (M S T). specialize (Lo S T). specialize (Hi' S T).
      unfold cut in M, Lo, Hi'. simpl sum in M, Lo, Hi'.
      destruct (S i0), (T j0); simpl in *; try specialize (Lo eq_refl eq_refl);
      try specialize (Hi' eq_refl eq_refl); lra.
    + exists (fun e => if decE e (i0, j0) then x0 else x e).
      assert (forall e, In e E -> (if decE e (i0, j0) then x0 else x e) = x e) as Same.
      { intros e He. destruct (decE e (i0, j0)) as [->|]; [contradiction|reflexivity]. }
      assert ((if decE (i0, j0) (i0, j0) then x0 else x (i0, j0)) = x0) as First
        by (destruct (decE (i0, j0) (i0, j0)); tauto).
      split; [|split; [|split]].
      * intros e [<-|He]; cbv beta; [rewrite First; now split|rewrite Same by assumption; now apply Xe].
      * intros i Hin. unfold row_flow in *. rewrite sum_cons. cbv beta. rewrite First. specialize (Xr i Hin).
        rewrite (sum_ext E _ (fun e => only (isI (fst e) i) (x e)))
          by (intros e He; now rewrite Same).
        unfold isI at 1. simpl. destruct (decI i0 i) as [<-|N]; simpl.
        -- destruct (decI i0 i0); [lra|tauto].
        -- destruct (decI i i0); [congruence|lra].
      * intros j Hin. unfold column_flow in *. rewrite sum_cons. cbv beta. rewrite First. specialize (Xk j Hin).
        rewrite (sum_ext E _ (fun e => only (isJ (snd e) j) (x e)))
          by (intros e He; now rewrite Same).
        unfold isJ at 1. simpl. destruct (decJ j0 j) as [<-|N]; simpl.
        -- destruct (decJ j0 j0); [lra|tauto].
        -- destruct (decJ j j0); [congruence|lra].
      * rewrite sum_cons. cbv beta. rewrite First, (sum_ext E _ x) by assumption. lra.
Qed.
End Edges.

Lemma distinct_app {A : Type} (l m : list A) :
  NoDup l -> NoDup m -> (forall x, In x l -> ~ In x m) -> NoDup (l ++ m).
Proof.
  intros L M D. induction L as [|x l Out L IH]; simpl; [exact M|].
  constructor.
  - rewrite in_app_iff. intros [|]; [contradiction|]. apply (D x); [now left|assumption].
  - apply IH. intros y Y. apply D. now right.
Qed.

Lemma distinct_prod {I J : Type} (rows : list I) (cols : list J) :
  NoDup rows -> NoDup cols -> NoDup (list_prod rows cols).
Proof.
  intros R C. induction R as [|i rows Out R IH]; simpl; [constructor|].
  apply distinct_app; [|exact IH|].
  - clear -C. induction C as [|j cols Out C IH]; simpl; constructor; [|exact IH].
    rewrite in_map_iff. intros [j' [E Hj]]. congruence.
  - intros [i' j] H1 H2. apply in_map_iff in H1. destruct H1 as [j' [E _]].
    apply in_prod_iff in H2. inversion E; subst. tauto.
Qed.

Section MaxFlow.
Context {I J : Type} (rows : list I) (cols : list J) (c : I -> J -> R) (u : I -> R) (v : J -> R).
Hypothesis decI : forall x y : I, {x = y} + {x <> y}.
Hypothesis decJ : forall x y : J, {x = y} + {x <> y}.
Hypothesis rows_distinct : NoDup rows.
Hypothesis cols_distinct : NoDup cols.
Hypothesis caps : forall i j, In i rows -> In j cols -> 0 <= c i j.
Hypothesis u_pos : forall i, In i rows -> 0 <= u i.
Hypothesis v_pos : forall j, In j cols -> 0 <= v j.

(* A flow x within the caps, with row sums <= u and column sums <= v. *)
Definition feasible (x : I -> J -> R) : Prop :=
  flow_within rows cols c x /\ (forall i, In i rows -> row_sum cols x i <= u i) /\
  (forall j, In j cols -> column_sum rows x j <= v j).

Definition total (x : I -> J -> R) : R := \sum_(i <- rows) \sum_(j <- cols) x i j.

(* The least cut with the rows S on the side of the source: u(S^c) + sum_j min(v_j, c(S, j)). *)
Definition cut_of (S : I -> bool) : R :=
  \sum_(i <- rows) only (negb (S i)) (u i)
  + \sum_(j <- cols) Rmin (v j) (\sum_(i <- rows) only (S i) (c i j)).

Theorem flow_below_every_cut x S : feasible x -> total x <= cut_of S.
Proof.
  intros [W [Rw Cl]]. unfold total, cut_of.
  apply Rle_trans with (\sum_(i <- rows) only (negb (S i)) (\sum_(j <- cols) x i j)
    + \sum_(j <- cols) \sum_(i <- rows) only (S i) (x i j)).
  - rewrite (sum_swap cols rows), <- sum_add. apply sum_le. intros i _.
    destruct (S i); simpl; [lra|]. rewrite (sum_zero cols (fun _ => 0)) by reflexivity. lra.
  - apply Rplus_le_compat; apply sum_le.
    + intros i Hi. specialize (Rw i Hi). unfold row_sum in Rw. destruct (S i); simpl; lra.
    + intros j Hj. apply Rmin_glb.
      * apply Rle_trans with (2 := Cl j Hj). apply sum_le. intros i Hi.
        destruct (W i j Hi Hj). destruct (S i); simpl; lra.
      * apply sum_le. intros i Hi. destruct (W i j Hi Hj). destruct (S i); simpl; lra.
Qed.

Theorem max_flow m : (forall S, m <= cut_of S) -> exists x, feasible x /\ m <= total x.
Proof.
  intro M.
  destruct (flow_on_edges rows cols (fun e => c (fst e) (snd e)) decI decJ rows_distinct
    cols_distinct (list_prod rows cols) (distinct_prod rows cols rows_distinct cols_distinct) u v m)
    as [x [Xe [Xr [Xc Xm]]]]; auto.
  { intros [i j] He. apply in_prod_iff in He. simpl. split; [|split]; try tauto. apply caps; tauto. }
  { intros S T. apply Rle_trans with (1 := M S). unfold cut_of, cut.
    rewrite Rplus_assoc. apply Rplus_le_compat_l.
    rewrite sum_list_prod, sum_swap, <- sum_add. apply sum_le. intros j _. simpl.
    set (cS := \sum_(i <- rows) only (S i) (c i j)).
    assert (\sum_(i <- rows) only (S i && negb (T j)) (c i j) = only (negb (T j)) cS) as ->.
    { unfold cS. destruct (T j).
      - apply sum_zero. intros i _. now destruct (S i).
      - apply sum_ext. intros i _. now destruct (S i). }
    pose proof (Rmin_l (v j) cS). pose proof (Rmin_r (v j) cS). destruct (T j); simpl; lra. }
  exists (fun i j => x (i, j)). split; [split; [|split]|].
  - intros i j Hi Hj. apply (Xe (i, j)). now apply in_prod_iff.
  - intros i Hi. apply Rle_trans with (2 := Xr i Hi). unfold row_sum, row_flow.
    rewrite sum_list_prod. right.
    rewrite <- (sum_pick decI rows i (fun i => \sum_(j <- cols) x (i, j)) rows_distinct Hi).
    apply sum_ext. intros i' _. unfold isI. simpl. destruct (decI i' i); simpl; [reflexivity|].
    symmetry. now apply sum_zero.
  - intros j Hj. apply Rle_trans with (2 := Xc j Hj). unfold column_sum, column_flow.
    rewrite sum_list_prod, sum_swap. right.
    rewrite <- (sum_pick decJ cols j (fun j => \sum_(i <- rows) x (i, j)) cols_distinct Hj).
    apply sum_ext. intros j' _. unfold isJ. simpl. destruct (decJ j' j); simpl; [reflexivity|].
    symmetry. now apply sum_zero.
  - rewrite sum_list_prod in Xm. exact Xm.
Qed.
End MaxFlow.
