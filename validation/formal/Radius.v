(* docs/certificates.md. F = U + lam/2 |f|^2 with U convex is strongly convex: a gap is a radius around
   the optimum. *)
From Coq Require Import Reals Lra List Psatz.
From Formal Require Import Sums Space Minorant Losses PairLosses.
Import ListNotations.
Open Scope R_scope.

Definition mix {H : Space} (t : R) (f h : H) : H := add (scal t f) (scal (1 - t) h).

Definition convex {H : Space} (U : H -> R) : Prop :=
  forall t f h, 0 <= t <= 1 -> U (mix t f h) <= t * U f + (1 - t) * U h.

Definition convex_loss (loss : R -> R) : Prop :=
  forall t x y, 0 <= t <= 1 -> loss (t * x + (1 - t) * y) <= t * loss x + (1 - t) * loss y.

Section Radius.
Context {H : Space}.
Variables (U : H -> R) (lam : R).
Hypothesis lam_pos : 0 < lam.
Hypothesis convexity : convex U.

Definition objective (f : H) : R := U f + lam / 2 * norm2 f.

(* Over a set that holds the segments between its points: all f, or a subspace. *)
Definition segments (C : H -> Prop) : Prop :=
  forall t f h, 0 < t < 1 -> C f -> C h -> C (mix t f h).

Definition minimiser_in (C : H -> Prop) (f : H) : Prop :=
  C f /\ forall h, C h -> objective f <= objective h.

Definition minimiser (f : H) : Prop := forall h, objective f <= objective h.

Lemma norm2_mix t (f h : H) :
  norm2 (mix t f h) = t * norm2 f + (1 - t) * norm2 h - t * (1 - t) * norm2 (sub f h).
Proof. unfold mix. dots. rewrite (dot_comm _ h f). ring. Qed.

Theorem strong_convexity_in C star f :
  segments C -> minimiser_in C star -> C f ->
  lam / 2 * norm2 (sub f star) <= objective f - objective star.
Proof.
  intros Sg [Cs M] Cf.
  assert (forall t, 0 < t < 1 ->
    lam / 2 * (1 - t) * norm2 (sub f star) <= objective f - objective star) as S.
  { intros t T. pose proof (M (mix t f star) (Sg t f star T Cf Cs)) as Q.
    pose proof (convexity t f star ltac:(lra)) as C0. unfold objective in *.
    rewrite norm2_mix in Q.
    apply Rmult_le_reg_l with t; [lra|]. nra. }
  pose proof (dot_pos _ (sub f star)) as P. fold (norm2 (sub f star)) in P.
  set (D := norm2 (sub f star)) in *. set (E := objective f - objective star) in *.
  destruct (Rle_or_lt (lam / 2 * D) E) as [|N]; [assumption|exfalso].
  assert (0 <= E) by (unfold E; pose proof (M f Cf); lra).
  set (t := (lam / 2 * D - E) / (2 * (lam / 2 * D))).
  assert (t * (2 * (lam / 2 * D)) = lam / 2 * D - E) as T by (unfold t; field; nra).
  assert (0 < t) by (unfold t; apply Rdiv_lt_0_compat; lra).
  assert (t < 1) by nra.
  specialize (S t ltac:(lra)). nra.
Qed.

Corollary strong_convexity star f :
  minimiser star -> lam / 2 * norm2 (sub f star) <= objective f - objective star.
Proof.
  intro M. apply strong_convexity_in with (C := fun _ => True); try exact I.
  - intros t g h _ _ _. exact I.
  - split; [exact I|]. intros h _. apply M.
Qed.

Theorem radius star f gap :
  minimiser star -> objective f - objective star <= gap ->
  norm (sub f star) <= sqrt (2 * gap / lam).
Proof.
  intros M G. pose proof (strong_convexity star f M) as S.
  unfold norm. apply sqrt_le_1_alt. fold (norm2 (sub f star)).
  apply Rmult_le_reg_l with (lam / 2); [lra|].
  replace (lam / 2 * (2 * gap / lam)) with gap by (field; lra). lra.
Qed.

(* With a lower bound that weak duality gives, nothing of the optimum has to be known. *)
Corollary certified_radius star f D :
  minimiser star -> (forall h, D <= objective h) ->
  norm (sub f star) <= sqrt (2 * (objective f - D) / lam).
Proof. intros M L. apply radius; [exact M|]. specialize (L star). lra. Qed.

(* Scores of a pair differ from those of the optimum by at most |k_i - k_j| times the radius. *)
Corollary certified_order star f gap ki kj :
  minimiser star -> objective f - objective star <= gap ->
  norm (sub ki kj) * sqrt (2 * gap / lam) < dot f ki - dot f kj ->
  0 < dot star ki - dot star kj.
Proof.
  intros M G L. pose proof (radius star f gap M G) as Rd.
  pose proof (cauchy_schwarz (sub f star) (sub ki kj)) as C.
  pose proof (norm_pos (sub ki kj)). rewrite dot_sub, !dot_sub_r in C. nra.
Qed.
End Radius.

(* The pairwise risks of docs/certificates.md are convex. *)
Lemma convex_all_pairs {I J : Type} (rows : list I) (cols : list J) (c : I -> J -> R) {H : Space}
    (k : I -> H) (l : J -> H) loss :
  convex_loss loss -> (forall i j, In i rows -> In j cols -> 0 <= c i j) ->
  convex (all_pairs rows cols c k l loss).
Proof.
  intros C W t f h T. unfold all_pairs. rewrite <- !sum_scal, <- sum_add. apply sum_le. intros i Hi.
  rewrite <- !sum_scal, <- sum_add. apply sum_le. intros j Hj. unfold mix. dots.
  replace (t * dot f (k i) + (1 - t) * dot h (k i) - (t * dot f (l j) + (1 - t) * dot h (l j)))
    with (t * (dot f (k i) - dot f (l j)) + (1 - t) * (dot h (k i) - dot h (l j))) by ring.
  specialize (C t (dot f (k i) - dot f (l j)) (dot h (k i) - dot h (l j)) T).
  specialize (W i j Hi Hj). nra.
Qed.

Lemma convex_pairs {I P : Type} (pairs : list P) (upper lower : P -> I) (w : P -> R) {H : Space}
    (k : I -> H) loss :
  convex_loss loss -> (forall p, In p pairs -> 0 <= w p) ->
  convex (fun f => risk pairs upper lower w loss (scores k f)).
Proof.
  intros C W t f h T. unfold risk, scores. rewrite <- !sum_scal, <- sum_add. apply sum_le.
  intros p Hp. unfold mix. dots.
  match goal with |- _ * loss ?a <= t * (_ * loss ?x) + (1 - t) * (_ * loss ?y) =>
    replace a with (t * x + (1 - t) * y) by ring; specialize (C t x y T) end.
  specialize (W p Hp). nra.
Qed.

(* A loss that is a supremum of lines, as each that has a dual at every point is, is convex. *)
Lemma convex_of_fenchel loss :
  (forall t, exists alpha d, fenchel loss alpha d /\ loss t = d - alpha * t) -> convex_loss loss.
Proof.
  intros E t x y T. destruct (E (t * x + (1 - t) * y)) as [alpha [d [F ->]]].
  pose proof (F x). pose proof (F y). nra.
Qed.

Lemma convex_hinge : convex_loss hinge.
Proof.
  apply convex_of_fenchel. intro t. destruct (Rle_or_lt t 1) as [L|L].
  - exists 1, 1. split; [exact (proj1 (dual_hinge 1 ltac:(split; lra)))|].
    unfold hinge. rewrite Rmax_right; lra.
  - exists 0, 0. split; [exact (proj1 (dual_hinge 0 ltac:(split; lra)))|].
    unfold hinge. rewrite Rmax_left; lra.
Qed.

Lemma convex_square : convex_loss square.
Proof.
  intros t x y T. unfold square.
  assert (0 <= t * (1 - t) * ((x - y) * (x - y))) as Q
    by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply Rle_0_sqr]).
  lra.
Qed.

Lemma convex_squared_hinge : convex_loss squared_hinge.
Proof.
  apply convex_of_fenchel. intro t.
  exists (2 * Rmax 0 (1 - t)), (2 * Rmax 0 (1 - t) - 2 * Rmax 0 (1 - t) * (2 * Rmax 0 (1 - t)) / 4).
  assert (0 <= 2 * Rmax 0 (1 - t)) as P by (pose proof (Rmax_l 0 (1 - t)); lra).
  split; [exact (proj1 (dual_squared_hinge _ P))|].
  unfold squared_hinge, Rmax. destruct Rle_dec; nra.
Qed.

Lemma convex_logistic : convex_loss logistic.
Proof.
  apply convex_of_fenchel. intro t. pose proof (exp_pos (- t)) as E.
  set (e := exp (- t)) in *. exists (e / (1 + e)), (entropy (e / (1 + e))).
  assert (0 < e / (1 + e) < 1) as A.
  { split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with (1 + e); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  split; [apply fenchel_logistic; lra|]. unfold logistic, entropy. fold e.
  replace (1 - e / (1 + e)) with (/ (1 + e)) by (field; lra).
  unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra).
  replace (ln e) with (- t) by (unfold e; now rewrite ln_exp). field. lra.
Qed.
