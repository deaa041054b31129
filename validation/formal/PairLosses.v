(* docs/certificates.md. Mean losses over weighted pairs of rows, whichever pairs: a feasible alpha a
   pair makes a minorant. For the hinge over all pairs the marginals of alpha suffice. *)
From Coq Require Import Reals Lra List Psatz.
From Formal Require Import Sums Space Minorant Penalties Losses.
Import ListNotations.
Open Scope R_scope.

Section Pairs.
Context {I P : Type} (rows : list I) (pairs : list P) (upper lower : P -> I) (w : P -> R).
Hypothesis dec : forall x y : I, {x = y} + {x <> y}.
Hypothesis distinct : NoDup rows.
Hypothesis known : forall p, In p pairs -> In (upper p) rows /\ In (lower p) rows.
Hypothesis weights : forall p, In p pairs -> 0 <= w p.

(* U(s) = sum over the pairs of w loss(s_upper - s_lower). *)
Definition risk (loss : R -> R) (s : I -> R) : R :=
  \sum_(p <- pairs) w p * loss (s (upper p) - s (lower p)).

(* The signed marginals of alpha. *)
Definition marginal (alpha : P -> R) (i : I) : R :=
  \sum_(p <- pairs) w p * alpha p *
    ((if dec i (upper p) then 1 else 0) - (if dec i (lower p) then 1 else 0)).

Lemma pairing_marginal alpha s :
  pairing rows (marginal alpha) s = \sum_(p <- pairs) w p * alpha p * (s (upper p) - s (lower p)).
Proof.
  unfold pairing, marginal.
  rewrite (sum_ext rows _ (fun i => \sum_(p <- pairs) w p * alpha p *
    ((if dec i (upper p) then s i else 0) - (if dec i (lower p) then s i else 0)))).
  2: { intros i _. rewrite <- sum_scal_r. apply sum_ext. intros p _.
       destruct (dec i (upper p)), (dec i (lower p)); ring. }
  rewrite sum_swap. apply sum_ext. intros p Hp. destruct (known p Hp).
  rewrite sum_scal, sum_sub, !sum_pick; auto.
Qed.

Lemma marginal_balanced alpha : sum rows (marginal alpha) = 0.
Proof.
  transitivity (pairing rows (marginal alpha) (fun _ => 1)).
  - apply sum_ext. intros. ring.
  - rewrite pairing_marginal. apply sum_zero. intros. ring.
Qed.

Theorem pair_minorant loss alpha dual :
  (forall p, In p pairs -> fenchel loss (alpha p) (dual p)) ->
  minorant rows (risk loss) (\sum_(p <- pairs) w p * dual p) (marginal alpha).
Proof.
  intros F s. rewrite pairing_marginal, <- sum_sub. apply sum_le. intros p Hp.
  pose proof (Rmult_le_compat_l _ _ _ (weights p Hp) (F p Hp (s (upper p) - s (lower p)))).
  lra.
Qed.

Context {H : Space} (k : I -> H).

(* g = sum over the pairs of w alpha (k_upper - k_lower). *)
Definition pair_pull (alpha : P -> R) : H :=
  vsum pairs (fun p => scal (w p * alpha p) (sub (k (upper p)) (k (lower p)))).

Lemma pull_marginal alpha f : dot f (pull rows k (marginal alpha)) = dot f (pair_pull alpha).
Proof.
  rewrite <- pairing_scores, pairing_marginal. unfold pair_pull, scores. rewrite dot_vsum_r.
  apply sum_ext. intros. now rewrite dot_scal_r, dot_sub_r.
Qed.

Lemma pull_marginal_norm2 alpha : norm2 (pull rows k (marginal alpha)) = norm2 (pair_pull alpha).
Proof. unfold norm2. now rewrite pull_marginal, dot_comm, pull_marginal. Qed.

(* Weak duality as docs/certificates.md states it. *)
Theorem weak_duality_pairs loss lam alpha dual :
  0 < lam -> (forall p, In p pairs -> fenchel loss (alpha p) (dual p)) ->
  forall f, \sum_(p <- pairs) w p * dual p - norm2 (pair_pull alpha) / (2 * lam)
            <= risk loss (scores k f) + lam / 2 * norm2 f.
Proof.
  intros L F f. rewrite <- pull_marginal_norm2.
  apply weak_duality_ridge; [exact L|]. now apply pair_minorant.
Qed.

Corollary weak_duality_hinge lam alpha :
  0 < lam -> (forall p, In p pairs -> 0 <= alpha p <= 1) ->
  forall f, \sum_(p <- pairs) w p * alpha p - norm2 (pair_pull alpha) / (2 * lam)
            <= risk hinge (scores k f) + lam / 2 * norm2 f.
Proof. intros L A. apply weak_duality_pairs; [exact L|]. intros. now apply dual_hinge, A. Qed.

Corollary weak_duality_squared_hinge lam alpha :
  0 < lam -> (forall p, In p pairs -> 0 <= alpha p) ->
  forall f, \sum_(p <- pairs) w p * (alpha p - alpha p * alpha p / 4)
              - norm2 (pair_pull alpha) / (2 * lam)
            <= risk squared_hinge (scores k f) + lam / 2 * norm2 f.
Proof.
  intros L A. apply (weak_duality_pairs _ _ _ (fun p => alpha p - alpha p * alpha p / 4)); [exact L|].
  intros. now apply dual_squared_hinge, A.
Qed.

Corollary weak_duality_square lam alpha :
  0 < lam ->
  forall f, \sum_(p <- pairs) w p * (alpha p - alpha p * alpha p / 4)
              - norm2 (pair_pull alpha) / (2 * lam)
            <= risk square (scores k f) + lam / 2 * norm2 f.
Proof.
  intros L. apply (weak_duality_pairs _ _ _ (fun p => alpha p - alpha p * alpha p / 4)); [exact L|].
  intros. apply dual_square.
Qed.

Corollary weak_duality_logistic lam alpha :
  0 < lam -> (forall p, In p pairs -> 0 <= alpha p <= 1) ->
  forall f, \sum_(p <- pairs) w p * entropy (alpha p) - norm2 (pair_pull alpha) / (2 * lam)
            <= risk logistic (scores k f) + lam / 2 * norm2 f.
Proof.
  intros L A. apply (weak_duality_pairs _ _ _ (fun p => entropy (alpha p))); [exact L|].
  intros. now apply dual_logistic, A.
Qed.

(* Any penalty that has a conjugate. *)
Corollary weak_duality_pairs_penalty loss Omega alpha dual d :
  (forall p, In p pairs -> fenchel loss (alpha p) (dual p)) ->
  conjugate_bound Omega (pair_pull alpha) d ->
  forall f, \sum_(p <- pairs) w p * dual p - d <= risk loss (scores k f) + Omega f.
Proof.
  intros F C. apply weak_duality with (rows := rows) (c := marginal alpha); [now apply pair_minorant|].
  intro f. rewrite pull_marginal. apply C.
Qed.

(* Nothing is lost but what Fenchel's inequality leaves at each pair, and |lam f - g|. With
   alpha = -loss'(t) at f's own scores the first is zero: the gap is |gradient|^2 / (2 lam). *)
Theorem gap_identity loss lam alpha dual f : 0 < lam ->
  (risk loss (scores k f) + lam / 2 * norm2 f)
  - (\sum_(p <- pairs) w p * dual p - norm2 (pair_pull alpha) / (2 * lam))
  = \sum_(p <- pairs) w p * (loss (scores k f (upper p) - scores k f (lower p)) - dual p
                             + alpha p * (scores k f (upper p) - scores k f (lower p)))
    + norm2 (sub (scal lam f) (pair_pull alpha)) / (2 * lam).
Proof.
  intro L. assert (dot f (pair_pull alpha)
    = \sum_(p <- pairs) w p * alpha p * (scores k f (upper p) - scores k f (lower p))) as G
    by (rewrite <- pull_marginal, <- pairing_scores; apply pairing_marginal).
  rewrite (sum_ext pairs (fun p => w p * (_ - _ + _)) (fun p =>
    w p * loss (scores k f (upper p) - scores k f (lower p)) - w p * dual p
    + w p * alpha p * (scores k f (upper p) - scores k f (lower p)))) by (intros; ring).
  rewrite sum_add, sum_sub, <- G. unfold risk. dots. rewrite (dot_comm _ (pair_pull alpha) f). field. lra.
Qed.
End Pairs.

(* All pairs of a positive row i and a negative row j, with weights c_ij. x_ij = c_ij alpha_ij. *)
Section AllPairs.
Context {I J : Type} (rows : list I) (cols : list J) (c : I -> J -> R).
Context {H : Space} (k : I -> H) (l : J -> H).

Definition all_pairs (loss : R -> R) (f : H) : R :=
  \sum_(i <- rows) \sum_(j <- cols) c i j * loss (dot f (k i) - dot f (l j)).

Definition flow_within (x : I -> J -> R) : Prop :=
  forall i j, In i rows -> In j cols -> 0 <= x i j <= c i j.

Definition row_sum (x : I -> J -> R) (i : I) : R := \sum_(j <- cols) x i j.
Definition column_sum (x : I -> J -> R) (j : J) : R := \sum_(i <- rows) x i j.

(* g = sum u_i k_i - sum v_j l_j. *)
Definition marginal_pull (u : I -> R) (v : J -> R) : H :=
  sub (vsum rows (fun i => scal (u i) (k i))) (vsum cols (fun j => scal (v j) (l j))).

Lemma dot_marginal_pull u v f :
  dot f (marginal_pull u v) = \sum_(i <- rows) u i * dot f (k i) - \sum_(j <- cols) v j * dot f (l j).
Proof.
  unfold marginal_pull. rewrite dot_sub_r, !dot_vsum_r.
  f_equal; apply sum_ext; intros; now rewrite dot_scal_r.
Qed.

Lemma marginals_below_hinge x :
  flow_within x -> forall f,
  sum rows (row_sum x) - dot f (marginal_pull (row_sum x) (column_sum x)) <= all_pairs hinge f.
Proof.
  intros F f. rewrite dot_marginal_pull. unfold row_sum, column_sum, all_pairs.
  rewrite (sum_ext rows (fun i => (\sum_(j <- cols) x i j) * dot f (k i))
    (fun i => \sum_(j <- cols) x i j * dot f (k i))) by (intros; now rewrite sum_scal_r).
  rewrite (sum_ext cols (fun j => (\sum_(i <- rows) x i j) * dot f (l j))
    (fun j => \sum_(i <- rows) x i j * dot f (l j))) by (intros; now rewrite sum_scal_r).
  rewrite (sum_swap cols rows), <- !sum_sub. apply sum_le. intros i Hi.
  rewrite <- !sum_sub. apply sum_le. intros j Hj.
  destruct (F i j Hi Hj) as [X0 X1].
  unfold hinge, Rmax. destruct Rle_dec; nra.
Qed.

(* The certificate of n numbers: u and v are the marginals of some x within the caps. *)
Theorem weak_duality_marginals x lam :
  0 < lam -> flow_within x -> forall f,
  sum rows (row_sum x) - norm2 (marginal_pull (row_sum x) (column_sum x)) / (2 * lam)
    <= all_pairs hinge f + lam / 2 * norm2 f.
Proof.
  intros L F f. pose proof (marginals_below_hinge x F f).
  pose proof (young lam f (marginal_pull (row_sum x) (column_sum x)) L). lra.
Qed.
End AllPairs.
