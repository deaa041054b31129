(* docs/certificates.md: any u, v >= 0 give a bound; what is missing from being marginals is paid for. *)
From Coq Require Import Reals Lra List Bool Psatz.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses Flow GaleRyser.
Import ListNotations.
Open Scope R_scope.

Section Deficiency.
Context {I J : Type} (rows : list I) (cols : list J) (c : I -> J -> R).
Variables (u : I -> R) (v : J -> R) (x : I -> J -> R) (M : R).
Hypothesis feasible_x : feasible rows cols c u v x.
Hypothesis total_x : total rows cols x = M.

Let u' := row_sum cols x.
Let v' := column_sum rows x.

(* eta = sum u + sum v - 2 M *)
Definition missing : R := sum rows u + sum cols v - 2 * M.

Lemma total_rows : sum rows u' = M.
Proof. exact total_x. Qed.

Lemma total_columns : sum cols v' = M.
Proof. rewrite <- total_x. unfold v', column_sum, total. now rewrite sum_swap. Qed.

Lemma missing_is_distance :
  \sum_(i <- rows) Rabs (u i - u' i) + \sum_(j <- cols) Rabs (v j - v' j) = missing.
Proof.
  destruct feasible_x as [_ [Rw Cl]]. unfold missing.
  rewrite (sum_ext rows _ (fun i => u i - u' i)).
  2: { intros i Hi. apply Rabs_pos_eq. specialize (Rw i Hi). unfold u'. lra. }
  rewrite (sum_ext cols _ (fun j => v j - v' j)).
  2: { intros j Hj. apply Rabs_pos_eq. specialize (Cl j Hj). unfold v'. lra. }
  rewrite !sum_sub, total_rows, total_columns. ring.
Qed.

(* A sum against u, v and the same sum against the marginals of x differ by missing * largest. *)
Lemma pull_of_flow (p : I -> R) (q : J -> R) far :
  (forall i, In i rows -> Rabs (p i) <= far) -> (forall j, In j cols -> Rabs (q j) <= far) ->
  Rabs (\sum_(i <- rows) u' i * p i - \sum_(j <- cols) v' j * q j)
  <= Rabs (\sum_(i <- rows) u i * p i - \sum_(j <- cols) v j * q j) + missing * far.
Proof.
  intros P Q. rewrite <- missing_is_distance.
  set (g := \sum_(i <- rows) u i * p i - \sum_(j <- cols) v j * q j).
  set (d := \sum_(i <- rows) (u' i - u i) * p i + \sum_(j <- cols) (v j - v' j) * q j).
  replace (\sum_(i <- rows) u' i * p i - \sum_(j <- cols) v' j * q j) with (g + d).
  2: { unfold g, d. rewrite (sum_ext rows (fun i => (u' i - u i) * p i) (fun i => u' i * p i - u i * p i))
         by (intros; ring).
       rewrite (sum_ext cols (fun j => (v j - v' j) * q j) (fun j => v j * q j - v' j * q j))
         by (intros; ring). rewrite !sum_sub. ring. }
  apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat_l. unfold d.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rmult_plus_distr_r, <- !sum_scal_r.
  apply Rplus_le_compat; (eapply Rle_trans; [apply sum_abs|apply sum_le]); intros k Hk; rewrite Rabs_mult.
  - rewrite Rabs_minus_sym. apply Rmult_le_compat_l; [apply Rabs_pos|auto].
  - apply Rmult_le_compat_l; [apply Rabs_pos|auto].
Qed.

Context {H : Space} (k : I -> H) (l : J -> H).

Lemma norm_pull_of_flow reach :
  (forall i, In i rows -> norm (k i) <= reach) -> (forall j, In j cols -> norm (l j) <= reach) ->
  norm (marginal_pull rows cols k l u' v')
  <= norm (marginal_pull rows cols k l u v) + reach * missing.
Proof.
  intros K L. set (g := marginal_pull rows cols k l u v). set (g' := marginal_pull rows cols k l u' v').
  set (d := add (vsum rows (fun i => scal (u' i - u i) (k i)))
                (vsum cols (fun j => scal (v j - v' j) (l j)))).
  rewrite (norm_ext g' (add g d)).
  2: { intro z. unfold g, g', d. rewrite dot_add, !(dot_comm _ (marginal_pull _ _ _ _ _ _) z).
       rewrite !dot_marginal_pull, dot_add, !dot_vsum.
       rewrite (sum_ext rows (fun i => dot (scal (u' i - u i) (k i)) z)
                  (fun i => u' i * dot z (k i) - u i * dot z (k i)))
         by (intros; rewrite dot_scal, (dot_comm _ z); ring).
       rewrite (sum_ext cols (fun j => dot (scal (v j - v' j) (l j)) z)
                  (fun j => v j * dot z (l j) - v' j * dot z (l j)))
         by (intros; rewrite dot_scal, (dot_comm _ z); ring).
       rewrite !sum_sub. ring. }
  apply Rle_trans with (1 := norm_triangle _ _). apply Rplus_le_compat_l. unfold d.
  apply Rle_trans with (1 := norm_triangle _ _).
  rewrite <- missing_is_distance, Rmult_plus_distr_l, <- !sum_scal.
  apply Rplus_le_compat; (eapply Rle_trans; [apply norm_vsum|apply sum_le]); intros q Hq;
  rewrite norm_scal, Rmult_comm.
  - rewrite Rabs_minus_sym. apply Rmult_le_compat_r; [apply Rabs_pos|auto].
  - apply Rmult_le_compat_r; [apply Rabs_pos|auto].
Qed.

Lemma missing_nonneg : 0 <= missing.
Proof.
  rewrite <- missing_is_distance.
  apply Rplus_le_le_0_compat; apply sum_nonneg; intros; apply Rabs_pos.
Qed.

Theorem deficiency_of_a_flow lam reach : 0 < lam -> 0 <= reach ->
  (forall i, In i rows -> norm (k i) <= reach) -> (forall j, In j cols -> norm (l j) <= reach) ->
  forall f, M - (norm (marginal_pull rows cols k l u v) + reach * missing)
                * (norm (marginal_pull rows cols k l u v) + reach * missing) / (2 * lam)
            <= all_pairs rows cols c k l hinge f + lam / 2 * norm2 f.
Proof.
  intros L P K L' f.
  pose proof (weak_duality_marginals rows cols c k l x lam L (proj1 feasible_x) f) as W.
  fold u' in W. fold v' in W. rewrite total_rows in W.
  pose proof (norm_pull_of_flow reach K L') as N.
  assert (norm2 (marginal_pull rows cols k l u' v') / (2 * lam)
    <= (norm (marginal_pull rows cols k l u v) + reach * missing)
       * (norm (marginal_pull rows cols k l u v) + reach * missing) / (2 * lam)).
  { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. now apply norm2_le_of_norm. }
  lra.
Qed.
End Deficiency.

(* With M by Gale and Ryser: p* >= M - (|g| + R eta)^2 / (2 lam), for any u, v >= 0. *)
Theorem deficiency_corrected {I J : Type} (rows : list I) (cols : list J) (a u : I -> R) (b v : J -> R)
    (decI : forall x y : I, {x = y} + {x <> y}) (decJ : forall x y : J, {x = y} + {x <> y})
    {H : Space} (k : I -> H) (l : J -> H) lam reach :
  NoDup rows -> NoDup cols ->
  (forall i, In i rows -> 0 <= a i) -> (forall j, In j cols -> 0 <= b j) ->
  (forall i, In i rows -> 0 <= u i) -> (forall j, In j cols -> 0 <= v j) ->
  by_ratio a u rows -> 0 < lam -> 0 <= reach ->
  (forall i, In i rows -> norm (k i) <= reach) -> (forall j, In j cols -> norm (l j) <= reach) ->
  let M := largest_flow cols a u b v rows in
  let eta := sum rows u + sum cols v - 2 * M in
  let g := marginal_pull rows cols k l u v in
  forall f, M - (norm g + reach * eta) * (norm g + reach * eta) / (2 * lam)
            <= all_pairs rows cols (fun i j => a i * b j) k l hinge f + lam / 2 * norm2 f.
Proof.
  intros Dr Dc A B U V Srt L P K L' M eta g f.
  destruct (gale_ryser rows cols a u b v decI decJ Dr Dc A B U V Srt) as [[x [F T]] _].
  now apply (deficiency_of_a_flow rows cols (fun i j => a i * b j) u v x M F T k l lam reach).
Qed.
