(* docs/certificates.md. The losses and their duals: dual(alpha) = -loss*(-alpha), the greatest d with
   loss(t) >= d - alpha t for all t. Each row of the table there is one theorem. *)
From Coq Require Import Reals Lra Psatz.
Open Scope R_scope.

(* Fenchel's inequality, in the only form that a certificate uses. *)
Definition fenchel (loss : R -> R) (alpha d : R) : Prop := forall t, d - alpha * t <= loss t.

(* d is the value of the dual, not only a bound of it. *)
Definition is_dual (loss : R -> R) (alpha d : R) : Prop :=
  fenchel loss alpha d /\ forall d', fenchel loss alpha d' -> d' <= d.

Definition hinge (t : R) : R := Rmax 0 (1 - t).
Definition squared_hinge (t : R) : R := Rmax 0 (1 - t) * Rmax 0 (1 - t).
Definition square (t : R) : R := (1 - t) * (1 - t).
Definition logistic (t : R) : R := ln (1 + exp (- t)).

Lemma hinge_nonneg t : 0 <= hinge t.
Proof. apply Rmax_l. Qed.

Lemma attained loss alpha d t : fenchel loss alpha d -> loss t = d - alpha * t -> is_dual loss alpha d.
Proof. intros F E. split; [exact F|]. intros d' F'. specialize (F' t). lra. Qed.

Theorem dual_hinge alpha : 0 <= alpha <= 1 -> is_dual hinge alpha alpha.
Proof.
  intro A. apply attained with (t := 1).
  - intro t. unfold hinge, Rmax. destruct Rle_dec; nra.
  - unfold hinge, Rmax. destruct Rle_dec; lra.
Qed.

Theorem dual_squared_hinge alpha :
  0 <= alpha -> is_dual squared_hinge alpha (alpha - alpha * alpha / 4).
Proof.
  intro A. apply attained with (t := 1 - alpha / 2).
  - intro t. unfold squared_hinge, Rmax.
    pose proof (Rle_0_sqr (1 - t - alpha / 2)) as Q. unfold Rsqr in Q. destruct Rle_dec; nra.
  - unfold squared_hinge, Rmax. destruct Rle_dec; nra.
Qed.

Theorem dual_square alpha : is_dual square alpha (alpha - alpha * alpha / 4).
Proof.
  apply attained with (t := 1 - alpha / 2); unfold square.
  - intro t. pose proof (Rle_0_sqr (1 - t - alpha / 2)) as Q. unfold Rsqr in Q. lra.
  - lra.
Qed.

(* Outside its range the dual of the hinge is minus infinity: there no d will do. *)
Theorem dual_hinge_range alpha d : fenchel hinge alpha d -> 0 <= alpha <= 1.
Proof.
  intro F. split.
  - destruct (Rle_or_lt 0 alpha) as [|N]; [assumption|exfalso].
    pose proof (F (Rmax 1 ((1 - d) / - alpha))) as Q.
    set (t := Rmax 1 ((1 - d) / - alpha)) in *.
    assert (1 <= t) by apply Rmax_l.
    assert ((1 - d) / - alpha <= t) as T by apply Rmax_r.
    apply Rmult_le_compat_r with (r := - alpha) in T; [|lra].
    replace ((1 - d) / - alpha * - alpha) with (1 - d) in T by (field; lra).
    unfold hinge, Rmax in Q. destruct Rle_dec; lra.
  - destruct (Rle_or_lt alpha 1) as [|N]; [assumption|exfalso].
    set (t := Rmin 0 ((d - 2) / (alpha - 1))).
    pose proof (F t) as Q.
    assert (t <= 0) by apply Rmin_l.
    assert (t <= (d - 2) / (alpha - 1)) as T by apply Rmin_r.
    apply Rmult_le_compat_r with (r := alpha - 1) in T; [|lra].
    replace ((d - 2) / (alpha - 1) * (alpha - 1)) with (d - 2) in T by (field; lra).
    unfold hinge, Rmax in Q. destruct Rle_dec; lra.
Qed.

(* The logistic loss: the entropy of (alpha, 1 - alpha), with 0 ln 0 = 0 as ln 0 = 0 in Coq. *)
Definition entropy (alpha : R) : R := - (alpha * ln alpha) - (1 - alpha) * ln (1 - alpha).

Lemma ln_le_minus_1 x : 0 < x -> ln x <= x - 1.
Proof.
  intro X. rewrite <- (ln_exp (x - 1)).
  destruct (Req_dec x 1) as [->|N]; [right; f_equal; rewrite Rminus_diag_eq, exp_0; reflexivity|].
  left. apply ln_increasing; [exact X|].
  pose proof (exp_ineq1 (x - 1)). lra.
Qed.

(* alpha ln(y / alpha) summed over a pair that adds up to S: the inequality of Gibbs. *)
Lemma gibbs a y S : 0 <= a -> 0 < y -> 0 < S -> a * (ln y - ln a) <= a * ln S + (y / S - a).
Proof.
  intros A Y S0. destruct (Req_dec a 0) as [->|N].
  - pose proof (Rdiv_lt_0_compat y S Y S0). rewrite !Rmult_0_l. lra.
  - assert (0 < a) by lra.
    assert (0 < y / (a * S)) as P by (apply Rdiv_lt_0_compat; [|apply Rmult_lt_0_compat]; assumption).
    pose proof (ln_le_minus_1 _ P) as Q.
    unfold Rdiv in Q at 1. rewrite ln_mult, ln_Rinv, ln_mult in Q;
      try apply Rinv_0_lt_compat; try apply Rmult_lt_0_compat; try assumption.
    apply Rmult_le_compat_l with (r := a) in Q; [|lra].
    replace (a * (y / (a * S) - 1)) with (y / S - a) in Q by (field; lra). lra.
Qed.

Lemma fenchel_logistic alpha : 0 <= alpha <= 1 -> fenchel logistic alpha (entropy alpha).
Proof.
  intros A t. unfold logistic, entropy.
  pose proof (exp_pos (- t)) as E. set (S := 1 + exp (- t)).
  assert (0 < S) as S0 by (unfold S; lra).
  pose proof (gibbs alpha (exp (- t)) S (proj1 A) E S0) as G.
  pose proof (gibbs (1 - alpha) 1 S ltac:(lra) Rlt_0_1 S0) as G'.
  rewrite ln_exp in G. rewrite ln_1 in G'.
  assert (exp (- t) / S + 1 / S = 1) by (unfold S; field; fold S; lra). lra.
Qed.

Theorem dual_logistic alpha : 0 <= alpha <= 1 -> is_dual logistic alpha (entropy alpha).
Proof.
  intro A. split; [now apply fenchel_logistic|]. intros d F.
  destruct (Req_dec alpha 0) as [Z|N0]; [|destruct (Req_dec alpha 1) as [O|N1]].
  - (* t to infinity *)
    unfold entropy. rewrite Z, Rminus_0_r, ln_1. ring_simplify.
    destruct (Rle_or_lt d 0) as [|P]; [assumption|exfalso].
    assert (1 < exp d) as X by (rewrite <- exp_0; now apply exp_increasing).
    specialize (F (- ln ((exp d - 1) / 2))). unfold logistic in F.
    rewrite Z, Ropp_involutive, exp_ln in F by lra.
    assert (ln (1 + (exp d - 1) / 2) < ln (exp d)) by (apply ln_increasing; lra).
    rewrite ln_exp in *. lra.
  - (* t to minus infinity *)
    unfold entropy. rewrite O, (Rminus_diag_eq 1 1), ln_1 by reflexivity. ring_simplify.
    destruct (Rle_or_lt d 0) as [|P]; [assumption|exfalso].
    assert (1 < exp d) as X by (rewrite <- exp_0; now apply exp_increasing).
    specialize (F (ln ((exp d - 1) / 2))). unfold logistic in F. rewrite O in F.
    set (y := (exp d - 1) / 2) in *. assert (0 < y) as Y by (unfold y; lra).
    assert (ln (1 + exp (- ln y)) + ln y = ln (1 + y)) as E.
    { rewrite exp_Ropp, exp_ln by assumption. rewrite <- ln_mult; [|pose proof (Rinv_0_lt_compat y Y); lra|assumption].
      f_equal. field. lra. }
    assert (ln (1 + y) < ln (exp d)) by (apply ln_increasing; unfold y; lra).
    rewrite ln_exp in *. lra.
  - (* attained inside *)
    assert (0 < alpha < 1) as B by lra.
    specialize (F (ln ((1 - alpha) / alpha))). unfold logistic, entropy in *.
    assert (0 < (1 - alpha) / alpha) as P by (apply Rdiv_lt_0_compat; lra).
    rewrite exp_Ropp, exp_ln in F by assumption.
    replace (1 + / ((1 - alpha) / alpha)) with (/ (1 - alpha)) in F by (field; lra).
    unfold Rdiv in F. rewrite ln_Rinv, ln_mult, ln_Rinv in F; try apply Rinv_0_lt_compat; lra.
Qed.

(* All of them are >= 0 and their duals at 0 are >= 0, so that dual points may be shrunk. *)
Theorem losses_nonneg t :
  0 <= hinge t /\ 0 <= squared_hinge t /\ 0 <= square t /\ 0 <= logistic t.
Proof.
  repeat split; try apply Rle_0_sqr; [apply hinge_nonneg|].
  unfold logistic. rewrite <- ln_1. left. apply ln_increasing; pose proof (exp_pos (- t)); lra.
Qed.
