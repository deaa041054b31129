(* docs/theorem-4-prime.md, (A), last inequality: q <= |E| (1/n+ + 1/n-), so q / (2 lam) <= eps_N. *)
From Coq Require Import Reals Lra List Psatz.
From Formal Require Import Sums Space PairLosses Nystrom.
Import ListNotations.
Open Scope R_scope.

Section Apriori.
Context {H : Space} {I J : Type} (pos : list I) (neg : list J) (k : I -> H) (l : J -> H) (P : H -> H).
Hypothesis projection : forall x y, dot (P x) y = dot (P x) (P y).
Hypothesis pos_some : pos <> [].
Hypothesis neg_some : neg <> [].

Let n_pos : R := INR (length pos).
Let n_neg : R := INR (length neg).
Let Lam : list (I * J) := list_prod pos neg.
Let Delta (p : I * J) : H := sub (k (fst p)) (l (snd p)).

(* E is the Gram matrix of x - P x over the rows, and e at least its largest eigenvalue: *)
Definition spectral_bound (e : R) : Prop := forall u v,
  norm2 (sub (marginal_pull pos neg k l u v) (P (marginal_pull pos neg k l u v)))
  <= e * (\sum_(i <- pos) u i * u i + \sum_(j <- neg) v j * v j).

Lemma sum_squares {A : Type} (r : list A) (u : A -> R) m :
  r <> [] -> (forall i, In i r -> 0 <= u i <= / INR (length r)) -> m = / INR (length r) ->
  \sum_(i <- r) u i * u i <= m.
Proof.
  intros N U ->. pose proof (length_pos r N) as L.
  apply Rle_trans with (\sum_(i <- r) / INR (length r) * / INR (length r)).
  - apply sum_le. intros i Hi. destruct (U i Hi). apply Rmult_le_compat; assumption.
  - rewrite sum_const. right. field. lra.
Qed.

Theorem error_form_a_priori alpha e : box alpha -> spectral_bound e -> 0 <= e ->
  error_form Delta P Lam alpha <= e * (/ n_pos + / n_neg).
Proof.
  intros A E E0.
  assert (0 < n_pos) as Np by now apply length_pos. assert (0 < n_neg) as Nn by now apply length_pos.
  set (u := fun i => (\sum_(j <- neg) alpha (i, j)) / (n_pos * n_neg)).
  set (v := fun j => (\sum_(i <- pos) alpha (i, j)) / (n_pos * n_neg)).
  assert (INR (length Lam) = n_pos * n_neg) as Ll.
  { unfold Lam. rewrite prod_length, mult_INR. reflexivity. }
  set (x := g Delta Lam alpha). set (y := marginal_pull pos neg k l u v).
  assert (forall f, dot f x = dot f y) as Same.
  { intro f. unfold x, y. rewrite dot_g, dot_marginal_pull. unfold mean. rewrite Ll. unfold Lam, u, v.
    rewrite sum_list_prod. simpl.
    rewrite (sum_ext pos (fun i => \sum_(j <- neg) alpha (i, j) * dot f (Delta (i, j)))
      (fun i => (\sum_(j <- neg) alpha (i, j)) * dot f (k i) - \sum_(j <- neg) alpha (i, j) * dot f (l j))).
    2: { intros i _. rewrite <- sum_scal_r, <- sum_sub. apply sum_ext. intros j _. unfold Delta. simpl. dots. ring. }
    rewrite sum_sub, (sum_swap pos neg). unfold Rdiv. rewrite Rmult_minus_distr_r, <- !sum_scal_r.
    f_equal; apply sum_ext; intros q _; [ring|]. rewrite sum_scal_r. ring. }
  assert (norm2 (sub x (P x)) = norm2 (sub y (P y))) as Q.
  { rewrite <- !norm_square, (norm_ext (sub x (P x)) (sub y (P y))); [reflexivity|].
    intro f. rewrite !dot_sub, !(self_adjoint P projection), (dot_comm _ x), (dot_comm _ x), (dot_comm _ y).
    rewrite (dot_comm _ y). now rewrite !Same. }
  unfold error_form. fold x. rewrite Q. apply Rle_trans with (1 := E u v).
  apply Rmult_le_compat_l; [exact E0|]. apply Rplus_le_compat; apply sum_squares; try assumption; try reflexivity.
  - intros i _. fold n_pos. unfold u. split.
    + apply Rmult_le_pos; [apply sum_nonneg; intros; apply A|]. left. apply Rinv_0_lt_compat. nra.
    + apply Rmult_le_reg_r with (n_pos * n_neg); [nra|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
      replace (/ n_pos * (n_pos * n_neg)) with (n_neg * 1) by (field; lra).
      unfold n_neg. rewrite <- sum_const. apply sum_le. intros; apply A.
  - intros j _. fold n_neg. unfold v. split.
    + apply Rmult_le_pos; [apply sum_nonneg; intros; apply A|]. left. apply Rinv_0_lt_compat. nra.
    + apply Rmult_le_reg_r with (n_pos * n_neg); [nra|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
      replace (/ n_neg * (n_pos * n_neg)) with (n_pos * 1) by (field; lra).
      unfold n_pos. rewrite <- sum_const. apply sum_le. intros; apply A.
Qed.
End Apriori.
