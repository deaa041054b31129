(* Where f lives: a real vector space with an inner product, complete or not.
   Rows in R^d with the usual product are one; so is the space of any kernel. Vectors are only ever
   looked at through inner products, so no other law of a vector space is needed. *)
From Coq Require Import Reals Lra List.
From Formal Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Record Space : Type := {
  vec :> Type;
  zero : vec;
  add : vec -> vec -> vec;
  scal : R -> vec -> vec;
  dot : vec -> vec -> R;
  dot_comm : forall x y, dot x y = dot y x;
  dot_zero : forall x, dot zero x = 0;
  dot_add : forall x y z, dot (add x y) z = dot x z + dot y z;
  dot_scal : forall c x z, dot (scal c x) z = c * dot x z;
  dot_pos : forall x, 0 <= dot x x
}.

Arguments zero {s}.
Arguments add {s} _ _.
Arguments scal {s} _ _.
Arguments dot {s} _ _.

Definition sub {H : Space} (x y : H) : H := add x (scal (-1) y).
Definition norm2 {H : Space} (x : H) : R := dot x x.
Definition norm {H : Space} (x : H) : R := sqrt (dot x x).

Fixpoint vsum {H : Space} {A : Type} (l : list A) (f : A -> H) : H :=
  match l with
  | [] => zero
  | i :: rest => add (f i) (vsum rest f)
  end.

Section Laws.
Context {H : Space}.
Implicit Types (x y z : H) (c : R).

Lemma dot_add_r x y z : dot z (add x y) = dot z x + dot z y.
Proof. now rewrite dot_comm, dot_add, (dot_comm _ x), (dot_comm _ y). Qed.

Lemma dot_scal_r c x z : dot z (scal c x) = c * dot z x.
Proof. now rewrite dot_comm, dot_scal, (dot_comm _ x). Qed.

Lemma dot_zero_r x : dot x zero = 0.
Proof. now rewrite dot_comm, dot_zero. Qed.

Lemma dot_sub x y z : dot (sub x y) z = dot x z - dot y z.
Proof. unfold sub. rewrite dot_add, dot_scal. lra. Qed.

Lemma dot_sub_r x y z : dot z (sub x y) = dot z x - dot z y.
Proof. unfold sub. rewrite dot_add_r, dot_scal_r. lra. Qed.

Lemma dot_vsum {A : Type} (l : list A) (f : A -> H) z :
  dot (vsum l f) z = \sum_(i <- l) dot (f i) z.
Proof. induction l as [|i l IH]; simpl; [apply dot_zero|]. now rewrite dot_add, IH. Qed.

Lemma dot_vsum_r {A : Type} (l : list A) (f : A -> H) z :
  dot z (vsum l f) = \sum_(i <- l) dot z (f i).
Proof. rewrite dot_comm, dot_vsum. apply sum_ext. intros; apply dot_comm. Qed.
End Laws.

#[export] Hint Rewrite @dot_add @dot_add_r @dot_scal @dot_scal_r @dot_zero @dot_zero_r @dot_sub
  @dot_sub_r : dot.

Ltac dots := unfold norm2 in *; autorewrite with dot in *.

Section Norm.
Context {H : Space}.
Implicit Types (x y z : H).

(* What completing a square gives, and all that weak duality needs of the penalty of ridge. *)
Lemma young (lam : R) x y : 0 < lam -> dot x y <= lam / 2 * norm2 x + norm2 y / (2 * lam).
Proof.
  intro L. pose proof (dot_pos _ (sub (scal lam x) y)) as S. dots.
  rewrite (dot_comm _ y x) in S.
  apply Rmult_le_reg_l with (2 * lam); [lra|].
  replace (2 * lam * (lam / 2 * dot x x + dot y y / (2 * lam)))
    with (lam * (lam * dot x x) + dot y y) by (field; lra).
  lra.
Qed.

Lemma cauchy_schwarz_square x y : dot x y * dot x y <= norm2 x * norm2 y.
Proof.
  unfold norm2. pose proof (dot_pos _ x) as X. pose proof (dot_pos _ y) as Y.
  destruct (Req_dec (dot y y) 0) as [E|E].
  - assert (dot x y = 0) as ->; [|rewrite E; lra].
    destruct (Req_dec (dot x y) 0) as [|N]; [assumption|exfalso].
    set (t := - (dot x x + 1) / (2 * dot x y)).
    pose proof (dot_pos _ (add x (scal t y))) as S. dots.
    rewrite (dot_comm _ y x), E in S.
    assert (2 * (t * dot x y) = - (dot x x + 1)) by (unfold t; field; assumption). lra.
  - pose proof (dot_pos _ (sub (scal (dot y y) x) (scal (dot x y) y))) as S. dots.
    rewrite (dot_comm _ y x) in S.
    assert (0 < dot y y) by lra.
    apply Rmult_le_reg_l with (dot y y); [assumption|]. lra.
Qed.

Lemma norm_pos x : 0 <= norm x.
Proof. apply sqrt_pos. Qed.

Lemma norm_square x : norm x * norm x = norm2 x.
Proof. apply sqrt_sqrt, dot_pos. Qed.

Lemma cauchy_schwarz x y : dot x y <= norm x * norm y.
Proof.
  unfold norm. rewrite <- sqrt_mult; try apply dot_pos.
  destruct (Rle_or_lt (dot x y) 0) as [N|P].
  - apply Rle_trans with (1 := N), sqrt_pos.
  - rewrite <- (sqrt_square (dot x y)) by lra.
    apply sqrt_le_1_alt, cauchy_schwarz_square.
Qed.

Lemma dot_opp x y : dot (scal (-1) x) y = - dot x y.
Proof. rewrite dot_scal. lra. Qed.

Lemma norm_scal c x : norm (scal c x) = Rabs c * norm x.
Proof.
  unfold norm. dots. rewrite <- Rmult_assoc.
  rewrite sqrt_mult; [|apply Rle_0_sqr|apply dot_pos].
  now rewrite <- sqrt_Rsqr_abs.
Qed.

Lemma cauchy_schwarz_abs x y : Rabs (dot x y) <= norm x * norm y.
Proof.
  apply Rabs_le. split; [|apply cauchy_schwarz].
  pose proof (cauchy_schwarz (scal (-1) x) y) as C.
  rewrite dot_opp, norm_scal, Rabs_left in C; lra.
Qed.

Lemma cauchy_schwarz_lower x y : - (norm x * norm y) <= dot x y.
Proof.
  pose proof (cauchy_schwarz_abs x y). pose proof (Rle_abs (- dot x y)). rewrite Rabs_Ropp in *. lra.
Qed.

(* The way in which every bound of a norm below is proved. *)
Lemma norm_le_of_square x b : 0 <= b -> norm2 x <= b * b -> norm x <= b.
Proof.
  intros B S. unfold norm. rewrite <- (sqrt_square b B). apply sqrt_le_1_alt, S.
Qed.

Lemma norm2_le_of_norm x b : norm x <= b -> norm2 x <= b * b.
Proof.
  intro L. rewrite <- norm_square. pose proof (norm_pos x).
  apply Rmult_le_compat; assumption.
Qed.

Lemma norm_triangle x y : norm (add x y) <= norm x + norm y.
Proof.
  pose proof (norm_pos x). pose proof (norm_pos y).
  apply norm_le_of_square; [lra|]. dots.
  pose proof (norm_square x). pose proof (norm_square y). unfold norm2 in *.
  pose proof (cauchy_schwarz x y). rewrite (dot_comm _ y x).
  replace ((norm x + norm y) * (norm x + norm y))
    with (norm x * norm x + 2 * (norm x * norm y) + norm y * norm y) by ring.
  lra.
Qed.

Lemma norm_sub_comm x y : norm (sub x y) = norm (sub y x).
Proof. unfold norm. f_equal. dots. rewrite (dot_comm _ y x). ring. Qed.

Lemma norm_sub_triangle x y z : norm (sub x z) <= norm (sub x y) + norm (sub y z).
Proof.
  unfold norm at 1. replace (dot (sub x z) (sub x z))
    with (dot (add (sub x y) (sub y z)) (add (sub x y) (sub y z))); [apply norm_triangle|].
  dots. rewrite (dot_comm _ y x), (dot_comm _ z x), (dot_comm _ z y). ring.
Qed.

Lemma norm2_difference x y : Rabs (norm2 x - norm2 y) <= norm (sub x y) * (norm x + norm y).
Proof.
  replace (norm2 x - norm2 y) with (dot (sub x y) (add x y))
    by (dots; rewrite (dot_comm _ y x); ring).
  apply Rle_trans with (1 := cauchy_schwarz_abs _ _).
  apply Rmult_le_compat_l; [apply norm_pos|apply norm_triangle].
Qed.

Lemma norm_zero : norm (@zero H) = 0.
Proof. unfold norm. rewrite dot_zero. apply sqrt_0. Qed.

Lemma norm_vsum {A : Type} (l : list A) (f : A -> H) :
  norm (vsum l f) <= \sum_(i <- l) norm (f i).
Proof.
  induction l as [|i l IH]; simpl; [rewrite norm_zero; lra|].
  apply Rle_trans with (1 := norm_triangle _ _). lra.
Qed.

(* Two vectors with equal products against everything have equal norms. *)
Lemma norm_ext x y : (forall z, dot x z = dot y z) -> norm x = norm y.
Proof. intro E. unfold norm. now rewrite (E x), (dot_comm _ y x), (E y). Qed.
End Norm.
