(* docs/certificates.md. The one sentence that carries every certificate: U(s) >= V - c's for all
   scores s. Weak duality follows for any penalty by its conjugate; scalings and mixtures stay
   minorants. *)
From Coq Require Import Reals Lra List Psatz.
From Formal Require Import Sums Space.
Import ListNotations.
Open Scope R_scope.

Section Minorant.
Context {I : Type} (rows : list I).
Implicit Types (U : (I -> R) -> R) (c s : I -> R).

Definition pairing c s : R := \sum_(i <- rows) c i * s i.

Definition minorant U (V : R) c : Prop := forall s, V - pairing c s <= U s.

Theorem scaled_minorant U V c t :
  (forall s, 0 <= U s) -> minorant U V c -> 0 <= t <= 1 -> minorant U (t * V) (fun i => t * c i).
Proof.
  intros P M T s. specialize (P s). specialize (M s). unfold pairing in *.
  rewrite (sum_ext _ _ (fun i => t * (c i * s i))) by (intros; ring).
  rewrite sum_scal. nra.
Qed.

(* Finitely many minorants with weights in the simplex. *)
Theorem mixed_minorant {K : Type} (parts : list K) U (V : K -> R) (c : K -> I -> R) (t : K -> R) :
  (forall k, In k parts -> minorant U (V k) (c k)) ->
  (forall k, In k parts -> 0 <= t k) -> sum parts t = 1 ->
  minorant U (\sum_(k <- parts) t k * V k) (fun i => \sum_(k <- parts) t k * c k i).
Proof.
  intros M T One s. unfold pairing.
  rewrite (sum_ext rows _ (fun i => \sum_(k <- parts) t k * (c k i * s i))).
  2: { intros i _. rewrite <- sum_scal_r. apply sum_ext. intros; ring. }
  rewrite sum_swap, <- sum_sub, <- (Rmult_1_l (U s)), <- One, <- sum_scal_r.
  apply sum_le. intros k Hk. rewrite sum_scal.
  specialize (M k Hk s). specialize (T k Hk). unfold pairing in M. nra.
Qed.

(* A common offset of all scores changes nothing where sum c = 0. *)
Lemma pairing_offset c s b : sum rows c = 0 -> pairing c (fun i => s i - b) = pairing c s.
Proof.
  intro Z. unfold pairing.
  rewrite (sum_ext rows _ (fun i => c i * s i - c i * b)) by (intros; ring).
  rewrite sum_sub, sum_scal_r, Z. ring.
Qed.
End Minorant.

Section WeakDuality.
Context {H : Space} {I : Type} (rows : list I) (k : I -> H).

Definition scores (f : H) (i : I) : R := dot f (k i).

Definition pull (c : I -> R) : H := vsum rows (fun i => scal (c i) (k i)).

Lemma pairing_scores c f : pairing rows c (scores f) = dot f (pull c).
Proof.
  unfold pairing, pull, scores. rewrite dot_vsum_r. apply sum_ext. intros. now rewrite dot_scal_r.
Qed.

(* d is at least the conjugate of Omega at g. *)
Definition conjugate_bound (Omega : H -> R) (g : H) (d : R) : Prop :=
  forall f, dot f g - Omega f <= d.

Theorem weak_duality (U : (I -> R) -> R) (Omega : H -> R) V c d :
  minorant rows U V c -> conjugate_bound Omega (pull c) d ->
  forall f, V - d <= U (scores f) + Omega f.
Proof.
  intros M C f. specialize (M (scores f)). specialize (C f).
  rewrite pairing_scores in M. lra.
Qed.

Theorem weak_duality_ridge (U : (I -> R) -> R) V c lam :
  0 < lam -> minorant rows U V c ->
  forall f, V - norm2 (pull c) / (2 * lam) <= U (scores f) + lam / 2 * norm2 f.
Proof.
  intros L M f.
  apply (weak_duality U (fun f => lam / 2 * norm2 f) V c (norm2 (pull c) / (2 * lam))); [exact M|].
  intro h. pose proof (young lam h (pull c) L). lra.
Qed.

(* Without lam: any f in a ball. *)
Theorem audit_without_lam (U : (I -> R) -> R) V c B :
  minorant rows U V c -> forall f, norm f <= B -> V - B * norm (pull c) <= U (scores f).
Proof.
  intros M f L. specialize (M (scores f)). rewrite pairing_scores in M.
  pose proof (cauchy_schwarz f (pull c)). pose proof (norm_pos (pull c)). nra.
Qed.

(* The errors of c and of V that floating point makes enter by their bounds. *)
Lemma pull_error c c' reach e :
  (forall i, In i rows -> norm (k i) <= reach) -> 0 <= reach ->
  \sum_(i <- rows) Rabs (c i - c' i) <= e ->
  norm (sub (pull c) (pull c')) <= reach * e.
Proof.
  intros K P E.
  rewrite (norm_ext _ (vsum rows (fun i => scal (c i - c' i) (k i)))).
  - apply Rle_trans with (1 := norm_vsum _ _).
    apply Rle_trans with (\sum_(i <- rows) reach * Rabs (c i - c' i)).
    + apply sum_le. intros i Hi. rewrite norm_scal, Rmult_comm.
      apply Rmult_le_compat_r; [apply Rabs_pos|auto].
    + rewrite sum_scal. now apply Rmult_le_compat_l.
  - intro z. unfold pull. rewrite dot_sub, !dot_vsum, <- sum_sub.
    apply sum_ext. intros. rewrite !dot_scal. ring.
Qed.
End WeakDuality.
