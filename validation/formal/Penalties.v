(* docs/certificates.md. Omega(f) = l2/2 |f|^2 + sigma_C(f), sigma_C the support function of a set C:
   its conjugate at g is at most dist(g, C)^2 / (2 l2). Ridge, elastic net, group lasso and signs. *)
From Coq Require Import Reals Lra List Psatz.
From Formal Require Import Sums Space Minorant.
Import ListNotations.
Open Scope R_scope.

Section Support.
Context {H : Space}.
Implicit Types (C : H -> Prop) (sigma : H -> R) (f g y : H).

Definition support_function C sigma : Prop :=
  forall f, is_lub (fun t => exists y, C y /\ t = dot f y) (sigma f).

Definition distance C g (r : R) : Prop :=
  (forall y, C y -> r <= norm (sub g y)) /\
  (forall e, 0 < e -> exists y, C y /\ norm (sub g y) < r + e).

Definition penalty (l2 : R) sigma f : R := l2 / 2 * norm2 f + sigma f.

Lemma support_bound C sigma f y : support_function C sigma -> C y -> dot f y <= sigma f.
Proof. intros S Y. apply (proj1 (S f)). now exists y. Qed.

Lemma support_nonneg C sigma f : support_function C sigma -> C zero -> 0 <= sigma f.
Proof. intros S Z. rewrite <- (dot_zero_r f). now apply support_bound with (C := C). Qed.

Lemma conjugate_at_point C sigma l2 g y :
  0 < l2 -> support_function C sigma -> C y ->
  conjugate_bound (penalty l2 sigma) g (norm2 (sub g y) / (2 * l2)).
Proof.
  intros L S Y f. unfold penalty. pose proof (support_bound C sigma f y S Y) as B.
  pose proof (young l2 f (sub g y) L) as Q. rewrite dot_sub_r in Q. lra.
Qed.

Lemma distance_nonneg C g r : distance C g r -> 0 <= r.
Proof.
  intros [_ D]. destruct (Rle_or_lt 0 r) as [|N]; [assumption|].
  destruct (D (- r)) as [y [_ Y]]; [lra|]. pose proof (norm_pos (sub g y)). lra.
Qed.

(* If everything above r is a bound, so is r: squares are continuous. *)
Lemma square_limit (x r q : R) :
  0 < q -> 0 <= r -> (forall e, 0 < e -> x <= (r + e) * (r + e) / q) -> x <= r * r / q.
Proof.
  intros Q P L. destruct (Rle_or_lt x (r * r / q)) as [|N]; [assumption|exfalso].
  set (d := x * q - r * r).
  assert (0 < d) as D.
  { unfold d. apply Rmult_lt_compat_r with (r := q) in N; [|assumption].
    replace (r * r / q * q) with (r * r) in N by (field; lra). lra. }
  set (e := Rmin 1 (d / (2 * (2 * r + 1)))).
  assert (0 < e) as E.
  { unfold e. apply Rmin_glb_lt; [lra|]. apply Rdiv_lt_0_compat; lra. }
  specialize (L e E). apply Rmult_le_compat_r with (r := q) in L; [|lra].
  replace ((r + e) * (r + e) / q * q) with ((r + e) * (r + e)) in L by (field; lra).
  assert (e <= 1) by (unfold e; apply Rmin_l).
  assert (e * (2 * (2 * r + 1)) <= d).
  { apply Rle_trans with (d / (2 * (2 * r + 1)) * (2 * (2 * r + 1))).
    - apply Rmult_le_compat_r; [lra|]. unfold e; apply Rmin_r.
    - right. field. lra. }
  assert (e * e <= e) by nra. unfold d in *. nra.
Qed.

Theorem conjugate_distance C sigma l2 g r :
  0 < l2 -> support_function C sigma -> distance C g r ->
  conjugate_bound (penalty l2 sigma) g (r * r / (2 * l2)).
Proof.
  intros L S D f. apply square_limit; [lra|now apply distance_nonneg with C g|].
  intros e E. destruct (proj2 D e E) as [y [Y N]].
  apply Rle_trans with (1 := conjugate_at_point C sigma l2 g y L S Y f).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
  rewrite <- norm_square. pose proof (norm_pos (sub g y)). nra.
Qed.

(* The distance is 1-Lipschitz, so that an error of g is paid for by its norm. *)
Theorem distance_lipschitz C g g' r r' :
  distance C g r -> distance C g' r' -> r' <= r + norm (sub g' g).
Proof.
  intros D D'. apply le_epsilon. intros e E. destruct (proj2 D e E) as [y [Y N]].
  apply Rle_trans with (1 := proj1 D' y Y).
  rewrite (norm_ext (sub g' y) (add (sub g' g) (sub g y))).
  - pose proof (norm_triangle (sub g' g) (sub g y)). lra.
  - intro z. dots. lra.
Qed.
End Support.

Section Certificate.
Context {H : Space} {I : Type} (rows : list I) (k : I -> H).

Theorem weak_duality_penalty C sigma l2 r U V c :
  0 < l2 -> support_function C sigma -> distance C (pull rows k c) r -> minorant rows U V c ->
  forall f, V - r * r / (2 * l2) <= U (scores k f) + penalty l2 sigma f.
Proof.
  intros L S D M. apply weak_duality with (rows := rows) (c := c); [exact M|].
  now apply conjugate_distance with C.
Qed.

(* (V, c) is what was computed, (V', c') the minorant that it stands for, r' what was computed for
   the distance of the pull of c. *)
Theorem weak_duality_with_errors C sigma l2 U V V' c c' r r' reach value_error c_error dist_error :
  0 < l2 -> support_function C sigma -> distance C (pull rows k c) r -> minorant rows U V' c' ->
  (exists r0, distance C (pull rows k c') r0) ->
  V - value_error <= V' -> (forall i, In i rows -> norm (k i) <= reach) -> 0 <= reach ->
  \sum_(i <- rows) Rabs (c' i - c i) <= c_error -> r <= r' + dist_error ->
  forall f, V - value_error
            - (r' + dist_error + reach * c_error) * (r' + dist_error + reach * c_error) / (2 * l2)
            <= U (scores k f) + penalty l2 sigma f.
Proof.
  intros L S D M [r0 D0] HV K P E R f.
  pose proof (weak_duality_penalty C sigma l2 r0 U V' c' L S D0 M f) as W.
  pose proof (distance_lipschitz C _ _ _ _ D D0) as Lip.
  pose proof (pull_error rows k c' c reach c_error K P E) as PE.
  pose proof (distance_nonneg _ _ _ D0).
  assert (r0 * r0 / (2 * l2)
    <= (r' + dist_error + reach * c_error) * (r' + dist_error + reach * c_error) / (2 * l2)).
  { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply Rmult_le_compat; lra. }
  lra.
Qed.

(* l2 = 0: a minorant scaled until its pull is in C needs no ridge; there is no radius then. *)
Theorem weak_duality_without_ridge C sigma t U V c :
  support_function C sigma -> (forall s, 0 <= U s) -> minorant rows U V c -> 0 <= t <= 1 ->
  C (scal t (pull rows k c)) -> forall f, t * V <= U (scores k f) + sigma f.
Proof.
  intros S P M T G f. specialize (P (scores k f)). specialize (M (scores k f)).
  rewrite pairing_scores in M. pose proof (support_bound C sigma f _ S G) as B.
  rewrite dot_scal_r in B. nra.
Qed.
End Certificate.

(* Penalties that are sums over coordinates, or over groups of them. *)
Definition plus (x : R) : R := Rmax 0 x.

Lemma conjugate_scalar l1 l2 x y :
  0 < l2 -> 0 <= x -> x * y - (l2 / 2 * (x * x) + l1 * x) <= plus (y - l1) * plus (y - l1) / (2 * l2).
Proof.
  intros L X. set (p := plus (y - l1)).
  assert (y - l1 <= p) by apply Rmax_r.
  apply Rmult_le_reg_l with (2 * l2); [lra|].
  replace (2 * l2 * (p * p / (2 * l2))) with (p * p) by (field; lra).
  pose proof (Rle_0_sqr (l2 * x - p)) as Q. unfold Rsqr in Q.
  assert (0 <= x * (p - (y - l1))) by (apply Rmult_le_pos; lra). nra.
Qed.

Section Separable.
Context {G : Space} {K : Type} (groups : list K).
Implicit Types (w g : K -> G).

(* Elastic net: G the real line, a group a coordinate. Group lasso: G a block of coordinates. *)
Theorem conjugate_groups l2 (l1 : K -> R) w g :
  0 < l2 ->
  \sum_(q <- groups) dot (w q) (g q)
    - \sum_(q <- groups) (l2 / 2 * norm2 (w q) + l1 q * norm (w q))
  <= \sum_(q <- groups) plus (norm (g q) - l1 q) * plus (norm (g q) - l1 q) / (2 * l2).
Proof.
  intros L. rewrite <- sum_sub. apply sum_le. intros q _.
  pose proof (conjugate_scalar (l1 q) l2 (norm (w q)) (norm (g q)) L (norm_pos _)).
  pose proof (cauchy_schwarz (w q) (g q)). rewrite <- norm_square. lra.
Qed.

(* Coordinates w >= 0, each with l2/2 w^2 + l1 w. *)
Theorem conjugate_signs l1 l2 (w g : K -> R) :
  0 < l2 -> (forall q, In q groups -> 0 <= w q) ->
  \sum_(q <- groups) w q * g q - \sum_(q <- groups) (l2 / 2 * (w q * w q) + l1 * w q)
  <= \sum_(q <- groups) plus (g q - l1) * plus (g q - l1) / (2 * l2).
Proof.
  intros L P. rewrite <- sum_sub. apply sum_le. intros q Q. now apply conjugate_scalar; auto.
Qed.
End Separable.

(* R^d with the usual product, d coordinates: the space of the checker and of linear models. *)
Definition Rd (d : nat) : Space.
Proof.
  refine {| vec := nat -> R; zero := fun _ => 0; add := fun x y k => x k + y k;
            scal := fun c x k => c * x k; dot := fun x y => \sum_(k <- seq 0 d) x k * y k |}.
  - intros. apply sum_ext. intros; ring.
  - intros. apply sum_zero. intros; ring.
  - intros. rewrite <- sum_add. apply sum_ext. intros; ring.
  - intros. rewrite <- sum_scal. apply sum_ext. intros; ring.
  - intros. apply sum_nonneg. intros. apply Rle_0_sqr.
Defined.

Theorem conjugate_elastic_net d l1 l2 (g : Rd d) :
  0 < l2 ->
  conjugate_bound (fun w : Rd d => l2 / 2 * norm2 w + l1 * \sum_(k <- seq 0 d) Rabs (w k)) g
    (\sum_(k <- seq 0 d) plus (Rabs (g k) - l1) * plus (Rabs (g k) - l1) / (2 * l2)).
Proof.
  intros L w. unfold norm2. simpl. rewrite <- !sum_scal.
  apply Rle_trans with (\sum_(k <- seq 0 d)
    (w k * g k - (l2 / 2 * (w k * w k) + l1 * Rabs (w k)))).
  - rewrite sum_sub, sum_add. lra.
  - apply sum_le. intros k _.
    pose proof (conjugate_scalar l1 l2 (Rabs (w k)) (Rabs (g k)) L (Rabs_pos _)) as Q.
    rewrite <- !Rabs_mult in Q. pose proof (Rle_abs (w k * g k)).
    rewrite (Rabs_pos_eq (w k * w k)) in Q by apply Rle_0_sqr. lra.
Qed.
