(* Finite sums over lists. Rows, pairs and columns are lists of indices throughout. *)
From Coq Require Import Reals Lra List Permutation.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum {A : Type} (l : list A) (f : A -> R) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + sum rest f
  end.

Notation "\sum_ ( i <- l ) e" := (sum l (fun i => e))
  (at level 41, i binder, l at level 60, e at level 41, right associativity).

Section Laws.
Context {A : Type}.
Implicit Types (l : list A) (f g : A -> R).

Lemma sum_cons x l f : sum (x :: l) f = f x + sum l f.
Proof. reflexivity. Qed.

Lemma sum_ext l f g : (forall i, In i l -> f i = g i) -> sum l f = sum l g.
Proof.
  induction l as [|x l IH]; simpl; intro H; [reflexivity|].
  rewrite (H x), IH; auto.
Qed.

Lemma sum_le l f g : (forall i, In i l -> f i <= g i) -> sum l f <= sum l g.
Proof.
  induction l as [|x l IH]; simpl; intro H; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma sum_nonneg l f : (forall i, In i l -> 0 <= f i) -> 0 <= sum l f.
Proof.
  induction l as [|x l IH]; simpl; intro H; [lra|].
  apply Rplus_le_le_0_compat; auto.
Qed.

Lemma sum_zero l f : (forall i, In i l -> f i = 0) -> sum l f = 0.
Proof.
  induction l as [|x l IH]; simpl; intro H; [reflexivity|].
  rewrite (H x), IH; auto. lra.
Qed.

Lemma sum_add l f g : sum l (fun i => f i + g i) = sum l f + sum l g.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_sub l f g : sum l (fun i => f i - g i) = sum l f - sum l g.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_opp l f : sum l (fun i => - f i) = - sum l f.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_scal l c f : sum l (fun i => c * f i) = c * sum l f.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_scal_r l c f : sum l (fun i => f i * c) = sum l f * c.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_const l c : sum l (fun _ => c) = INR (length l) * c.
Proof.
  induction l as [|x l IH]; [simpl; lra|].
  change (sum (x :: l) (fun _ => c)) with (c + sum l (fun _ => c)).
  change (length (x :: l)) with (S (length l)). rewrite IH, S_INR. lra.
Qed.

Lemma sum_app l m f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_perm l m f : Permutation l m -> sum l f = sum m f.
Proof. induction 1; simpl; lra. Qed.

Lemma sum_abs l f : Rabs (sum l f) <= sum l (fun i => Rabs (f i)).
Proof.
  induction l as [|x l IH]; simpl; [rewrite Rabs_R0; lra|].
  apply Rle_trans with (1 := Rabs_triang _ _). lra.
Qed.

(* A sum against an indicator picks one term. *)
Lemma sum_pick (dec : forall x y : A, {x = y} + {x <> y}) l k f :
  NoDup l -> In k l -> sum l (fun i => if dec i k then f i else 0) = f k.
Proof.
  induction 1 as [|x l Hx Hl IH]; simpl; [tauto|].
  intros [<-|Hk].
  - destruct (dec x x) as [_|]; [|tauto].
    rewrite sum_zero; [lra|]. intros i Hi. destruct (dec i x) as [->|]; tauto.
  - destruct (dec x k) as [->|_]; [tauto|]. rewrite IH; auto. lra.
Qed.

Lemma sum_lower l f c : (forall i, In i l -> c <= f i) -> INR (length l) * c <= sum l f.
Proof. intro H. rewrite <- sum_const. apply sum_le, H. Qed.

Lemma equal_terms l f g :
  (forall i, In i l -> f i <= g i) -> sum l f = sum l g -> forall i, In i l -> f i = g i.
Proof.
  induction l as [|x l IH]; simpl; intros L E; [tauto|].
  pose proof (L x (or_introl eq_refl)) as Lx.
  assert (sum l f <= sum l g) by (apply sum_le; intros; apply L; now right).
  intros i [<-|Hi]; [lra|]. apply IH; [intros; apply L; now right|lra|exact Hi].
Qed.
End Laws.

Lemma sum_swap {A B : Type} (l : list A) (m : list B) (f : A -> B -> R) :
  \sum_(i <- l) \sum_(j <- m) f i j = \sum_(j <- m) \sum_(i <- l) f i j.
Proof.
  induction l as [|x l IH]; simpl.
  - symmetry. apply sum_zero. reflexivity.
  - rewrite IH. symmetry. apply sum_add.
Qed.

Lemma sum_map {A B : Type} (h : A -> B) (l : list A) (f : B -> R) :
  sum (map h l) f = \sum_(i <- l) f (h i).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma sum_list_prod {A B : Type} (l : list A) (m : list B) (f : A * B -> R) :
  sum (list_prod l m) f = \sum_(i <- l) \sum_(j <- m) f (i, j).
Proof.
  induction l as [|x l IH]; simpl; [reflexivity|].
  rewrite sum_app, sum_map, IH. reflexivity.
Qed.

Lemma sum_flat_map {A B : Type} (h : A -> list B) (l : list A) (f : B -> R) :
  sum (flat_map h l) f = \sum_(i <- l) sum (h i) f.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. now rewrite sum_app, IH. Qed.
