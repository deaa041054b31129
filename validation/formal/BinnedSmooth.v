(* docs/certificates.md, bounds from counts: a convex loss whose slope is L-Lipschitz, between its
   values at grid points. alpha = -loss'(t'), dual(alpha) = loss(t') + alpha t', e = t - t'. *)
From Coq Require Import Reals Lra List Psatz.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses.
Import ListNotations.
Open Scope R_scope.

Definition between (loss slope : R -> R) (L : R) : Prop :=
  forall t' t, loss t' + slope t' * (t - t') <= loss t
               <= loss t' + slope t' * (t - t') + L / 2 * ((t - t') * (t - t')).

(* MVT from one end, in the form that is used twice. *)
Lemma mean_value f df x y : (forall z, derivable_pt_lim f z (df z)) -> x <> y ->
  exists c, f y - f x = df c * (y - x) /\ (x < c < y \/ y < c < x).
Proof.
  intros D N. destruct (Rdichotomy _ _ N) as [L|L].
  - destruct (MVT_cor2 f df x y L) as [c [E B]]; [intros; apply D|]. exists c. split; [exact E|now left].
  - destruct (MVT_cor2 f df y x L) as [c [E B]]; [intros; apply D|]. exists c. split; [lra|now right].
Qed.

Theorem smooth_between loss slope L :
  (forall t, derivable_pt_lim loss t (slope t)) -> (forall x y, x <= y -> slope x <= slope y) ->
  (forall x y, x <= y -> slope y - slope x <= L * (y - x)) -> between loss slope L.
Proof.
  intros D Mono Lip t' t. destruct (Req_dec t' t) as [->|N]; [lra|].
  destruct (mean_value loss slope t' t D N) as [c [E B]].
  destruct (mean_value (fun x => loss x - L / 2 * ((x - t') * (x - t')))
    (fun x => slope x - L * (x - t')) t' t) as [c' [E' B']]; [|exact N|].
  { intro x. apply derivable_pt_lim_minus; [apply D|].
    replace (L * (x - t')) with (L / 2 * (1 * (x - t') + (x - t') * 1)) by field.
    apply derivable_pt_lim_scal. apply (derivable_pt_lim_mult (fun x => x - t') (fun x => x - t'));
    replace 1 with (1 - 0) by ring;
    apply derivable_pt_lim_minus; try apply derivable_pt_lim_id; apply derivable_pt_lim_const. }
  split.
  - destruct B as [B|B]; [pose proof (Mono t' c)|pose proof (Mono c t')]; nra.
  - destruct B' as [B'|B']; [pose proof (Lip t' c')|pose proof (Lip c' t')]; nra.
Qed.

Theorem squared_hinge_between : between squared_hinge (fun t => - 2 * Rmax 0 (1 - t)) 2.
Proof.
  intros t' t. unfold squared_hinge. replace (t - t') with ((1 - t') - (1 - t)) by ring.
  generalize (1 - t'), (1 - t). intros u v.
  pose proof (Rle_0_sqr u). pose proof (Rle_0_sqr v). pose proof (Rle_0_sqr (u - v)). unfold Rsqr in *.
  unfold Rmax. destruct (Rle_dec 0 u) as [U|U], (Rle_dec 0 v) as [V|V]; try lra;
  split; try apply Rnot_le_lt in U; try apply Rnot_le_lt in V; try lra.
  - assert (u * v <= 0) by nra. lra.
  - assert (u * v <= 0) by nra. lra.
Qed.

Definition logistic_slope (t : R) : R := - / (1 + exp t).

Lemma logistic_derivative t : derivable_pt_lim logistic t (logistic_slope t).
Proof.
  unfold logistic_slope. pose proof (exp_pos t). pose proof (exp_pos (- t)).
  replace (- / (1 + exp t)) with (/ (1 + exp (- t)) * (0 + exp (- t) * -1)).
  - apply (derivable_pt_lim_comp (fun t => 1 + exp (- t)) ln).
    + apply derivable_pt_lim_plus; [apply derivable_pt_lim_const|].
      apply (derivable_pt_lim_comp (fun t => - t) exp); [|apply derivable_pt_lim_exp].
      apply (derivable_pt_lim_opp (fun t => t)), derivable_pt_lim_id.
    + apply derivable_pt_lim_ln. lra.
  - rewrite exp_Ropp in *. field. lra.
Qed.

Lemma logistic_slope_derivative t :
  derivable_pt_lim logistic_slope t (exp t / ((1 + exp t) * (1 + exp t))).
Proof.
  pose proof (exp_pos t).
  replace (exp t / ((1 + exp t) * (1 + exp t))) with (- (((0 * (1 + exp t) - (0 + exp t) * 1)) / Rsqr (1 + exp t))).
  2: { unfold Rsqr. field. lra. }
  apply derivable_pt_lim_opp.
  apply (derivable_pt_lim_ext (fun x => 1 / (1 + exp x))); [intro; unfold Rdiv; ring|].
  apply (derivable_pt_lim_div (fun _ => 1) (fun x => 1 + exp x)); [| |lra].
  - apply derivable_pt_lim_const.
  - apply derivable_pt_lim_plus; [apply derivable_pt_lim_const|apply derivable_pt_lim_exp].
Qed.

Theorem logistic_between : between logistic logistic_slope (1 / 4).
Proof.
  assert (forall t, 0 <= exp t / ((1 + exp t) * (1 + exp t)) <= 1 / 4) as Bound.
  { intro t. pose proof (exp_pos t) as E.
    assert (0 < (1 + exp t) * (1 + exp t)) as Q by nra. split.
    - apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat.
    - apply Rmult_le_reg_r with ((1 + exp t) * (1 + exp t)); [exact Q|].
      unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
      pose proof (Rle_0_sqr (1 - exp t)) as S. unfold Rsqr in S. lra. }
  apply smooth_between; [apply logistic_derivative| |]; intros x y L;
  (destruct (Req_dec x y) as [->|N]; [lra|]);
  destruct (mean_value _ _ x y logistic_slope_derivative N) as [c [E _]]; specialize (Bound c); nra.
Qed.

Section Sums.
Context {I P : Type} (rows : list I) (pairs : list P) (upper lower : P -> I) (w : P -> R).
Hypothesis weights : forall p, In p pairs -> 0 <= w p.
Variables (loss slope : R -> R) (L : R).
Hypothesis grid : between loss slope L.
Context {H : Space} (k : I -> H).

(* t' of each pair, whatever it is: for bins (a - b) / K. *)
Variable at_grid : P -> R.
Let alpha (p : P) : R := - slope (at_grid p).
Let dual (p : P) : R := loss (at_grid p) + alpha p * at_grid p.
Let e (f : H) (p : P) : R := scores k f (upper p) - scores k f (lower p) - at_grid p.

Definition binned_upper (f : H) : R :=
  \sum_(p <- pairs) w p * (loss (at_grid p) - alpha p * e f p + L / 2 * (e f p * e f p)).

Theorem binned_alpha_feasible p : fenchel loss (alpha p) (dual p).
Proof. intro t. unfold dual, alpha. pose proof (proj1 (grid (at_grid p) t)). lra. Qed.

Theorem binned_upper_bound f : risk pairs upper lower w loss (scores k f) <= binned_upper f.
Proof.
  apply sum_le. intros p Hp. apply Rmult_le_compat_l; [auto|].
  pose proof (proj2 (grid (at_grid p) (scores k f (upper p) - scores k f (lower p)))).
  unfold e, alpha. lra.
Qed.

(* Upper bound minus dual: |lam f - g|^2 / (2 lam), and what the grid costs. *)
Theorem binned_gap_identity (dec : forall x y : I, {x = y} + {x <> y}) lam f :
  NoDup rows -> (forall p, In p pairs -> In (upper p) rows /\ In (lower p) rows) -> 0 < lam ->
  (binned_upper f + lam / 2 * norm2 f)
  - (\sum_(p <- pairs) w p * dual p - norm2 (pair_pull pairs upper lower w k alpha) / (2 * lam))
  = norm2 (sub (scal lam f) (pair_pull pairs upper lower w k alpha)) / (2 * lam)
    + L / 2 * \sum_(p <- pairs) w p * (e f p * e f p).
Proof.
  intros D Kn Lp.
  pose proof (gap_identity rows pairs upper lower w dec D Kn k loss lam alpha dual f Lp) as G.
  assert (binned_upper f = risk pairs upper lower w loss (scores k f)
    - (\sum_(p <- pairs) w p * (loss (scores k f (upper p) - scores k f (lower p)) - dual p
                             + alpha p * (scores k f (upper p) - scores k f (lower p))))
    + L / 2 * \sum_(p <- pairs) w p * (e f p * e f p)) as E.
  { unfold binned_upper, risk. rewrite <- sum_scal, <- sum_sub, <- sum_add. apply sum_ext.
    intros p _. unfold dual, e. ring. }
  rewrite E. lra.
Qed.
End Sums.

(* The mean of e^2 over all pairs from sums over each class: m2+ + m2- - 2 m1+ m1-. *)
Theorem mean_square_from_moments {I J : Type} (rows : list I) (cols : list J) (a x : I -> R) (b y : J -> R) :
  sum rows a = 1 -> sum cols b = 1 ->
  \sum_(i <- rows) \sum_(j <- cols) a i * b j * ((x i - y j) * (x i - y j))
  = (\sum_(i <- rows) a i * (x i * x i)) + (\sum_(j <- cols) b j * (y j * y j))
    - 2 * (\sum_(i <- rows) a i * x i) * (\sum_(j <- cols) b j * y j).
Proof.
  intros A B. set (m1 := \sum_(j <- cols) b j * y j). set (m2 := \sum_(j <- cols) b j * (y j * y j)).
  transitivity (\sum_(i <- rows) (a i * (x i * x i) + a i * m2 - 2 * (a i * x i) * m1)).
  - apply sum_ext. intros i _.
    rewrite (sum_ext cols _ (fun j => a i * (x i * x i) * b j + a i * (b j * (y j * y j))
      - 2 * (a i * x i) * (b j * y j))) by (intros; ring).
    rewrite sum_sub, sum_add, !sum_scal, B. fold m1 m2. ring.
  - rewrite sum_sub, sum_add, !sum_scal_r, A. rewrite sum_scal. ring.
Qed.
