(* docs/theorem-4-prime.md: B pairs drawn independently and uniformly from a list, with replacement.
   Expectations are finite sums over all draws; moments, union bound and symmetrisation are proved,
   the inequality of McDiarmid and the contraction principle are named and assumed where used. *)
From Coq Require Import Reals Lra List Bool Psatz.
From Formal Require Import Sums Space Flow Nystrom.
Import ListNotations.
Open Scope R_scope.

Section Draws.
Context {T : Type} (Lam : list T).
Hypothesis some : Lam <> [].
Let n : R := INR (length Lam).

Fixpoint draws (B : nat) : list (list T) :=
  match B with
  | O => [[]]
  | S B => flat_map (fun p => map (cons p) (draws B)) Lam
  end.

Definition expect (B : nat) (X : list T -> R) : R := sum (draws B) X / n ^ B.

Lemma n_pos : 0 < n.
Proof. now apply length_pos. Qed.

Lemma weight_pos B : 0 < / n ^ B.
Proof. apply Rinv_0_lt_compat, pow_lt, n_pos. Qed.

Lemma sum_draws B X : sum (draws (S B)) X = \sum_(p <- Lam) \sum_(D <- draws B) X (p :: D).
Proof. simpl. rewrite sum_flat_map. apply sum_ext. intros. apply sum_map. Qed.

Lemma expect_step B X : expect (S B) X = mean Lam (fun p => expect B (fun D => X (p :: D))).
Proof.
  unfold expect, mean. rewrite sum_draws. fold n. unfold Rdiv. rewrite sum_scal_r. simpl pow.
  rewrite Rinv_mult. ring.
Qed.

Lemma draws_are B D : In D (draws B) -> length D = B /\ forall p, In p D -> In p Lam.
Proof.
  revert D. induction B as [|B IH]; simpl; intros D HD.
  - destruct HD as [<-|[]]. split; [reflexivity|intros p []].
  - apply in_flat_map in HD. destruct HD as [p [Hp HD]]. apply in_map_iff in HD.
    destruct HD as [D' [<- HD']]. destruct (IH D' HD') as [L In']. split; [simpl; now rewrite L|].
    intros r [<-|Hr]; auto.
Qed.

Lemma expect_le B X Y : (forall D, In D (draws B) -> X D <= Y D) -> expect B X <= expect B Y.
Proof.
  intro L. unfold expect, Rdiv. apply Rmult_le_compat_r; [left; apply weight_pos|now apply sum_le].
Qed.

Lemma expect_lin B X Y c : expect B (fun D => X D + c * Y D) = expect B X + c * expect B Y.
Proof. unfold expect. rewrite sum_add, sum_scal. unfold Rdiv. ring. Qed.

Lemma expect_const B c : expect B (fun _ => c) = c.
Proof.
  induction B as [|B IH]; [unfold expect; simpl; field|]. rewrite expect_step.
  transitivity (mean Lam (fun _ => c)); [|now apply mean_const].
  unfold mean. f_equal. now apply sum_ext.
Qed.

Lemma expect_scal B X c : expect B (fun D => c * X D) = c * expect B X.
Proof. unfold expect. rewrite sum_scal. unfold Rdiv. ring. Qed.

(* E X <= sqrt (E X^2) *)
Lemma expect_root B X : expect B X <= sqrt (expect B (fun D => X D * X D)).
Proof.
  set (m := expect B X). set (q := expect B (fun D => X D * X D)).
  assert (0 <= q - m * m) as V.
  { replace (q - m * m) with (expect B (fun D => (X D - m) * (X D - m))).
    - rewrite <- (expect_const B 0). apply expect_le. intros. apply Rle_0_sqr.
    - transitivity (expect B (fun D => (X D * X D + - (2 * m) * X D) + (m * m) * 1)).
      + unfold expect. f_equal. apply sum_ext. intros. ring.
      + rewrite !expect_lin, expect_const. fold q m. ring. }
  destruct (Rle_or_lt m 0) as [N|P]; [apply Rle_trans with (1 := N), sqrt_pos|].
  rewrite <- (sqrt_square m) by lra. apply sqrt_le_1_alt. lra.
Qed.

Lemma mean_ext (D : list T) f h : (forall p, In p D -> f p = h p) -> mean D f = mean D h.
Proof. intro E. unfold mean. f_equal. now apply sum_ext. Qed.

Lemma expect_sum B f : expect B (fun D => sum D f) = INR B * mean Lam f.
Proof.
  induction B as [|B IH]; [unfold expect; simpl; field|].
  rewrite expect_step, S_INR.
  rewrite (mean_ext Lam _ (fun p => (INR B * mean Lam f) + 1 * f p)).
  - rewrite (mean_lin Lam (fun _ => INR B * mean Lam f) f 1), mean_const by exact some. ring.
  - intros p _. rewrite <- IH. transitivity (expect B (fun D => sum D f + f p * 1)).
    + unfold expect. f_equal. apply sum_ext. intros. simpl. ring.
    + rewrite expect_lin, expect_const. ring.
Qed.

(* Independent centred vectors: E |sum v|^2 = B mean |v|^2. *)
Lemma expect_norm2 {H : Space} (v : T -> H) B : (forall y, \sum_(p <- Lam) dot (v p) y = 0) ->
  expect B (fun D => norm2 (vsum D v)) = INR B * mean Lam (fun p => norm2 (v p)).
Proof.
  intro Z. induction B as [|B IH].
  - unfold expect. simpl. unfold norm2. rewrite dot_zero. field.
  - rewrite expect_step, S_INR, Rmult_plus_distr_r, Rmult_1_l, <- IH. unfold expect at 1.
    rewrite (mean_ext Lam _ (fun p => (norm2 (v p) + expect B (fun D => norm2 (vsum D v)))
      + 2 * (\sum_(D <- draws B) dot (v p) (vsum D v)) / n ^ B)).
    2: { intros p _. transitivity ((\sum_(D <- draws B) (norm2 (v p) + norm2 (vsum D v)
           + 2 * dot (v p) (vsum D v))) / n ^ B).
         - f_equal. apply sum_ext. intros D _. simpl. dots. rewrite (dot_comm _ (vsum D v) (v p)). ring.
         - rewrite !sum_add, sum_scal. pose proof (expect_const B (norm2 (v p))) as C. unfold expect in *.
           unfold Rdiv in *. rewrite !Rmult_plus_distr_r, C. ring. }
    transitivity (mean Lam (fun p => norm2 (v p)) + mean Lam (fun _ => expect B (fun D => norm2 (vsum D v)))
      + 2 / n ^ B * mean Lam (fun p => \sum_(D <- draws B) dot (v p) (vsum D v))).
    + unfold mean. rewrite (sum_ext Lam _ (fun p => (norm2 (v p) + expect B (fun D => norm2 (vsum D v)))
        + 2 / n ^ B * \sum_(D <- draws B) dot (v p) (vsum D v))) by (intros; unfold Rdiv; ring).
      rewrite !sum_add, sum_scal. unfold Rdiv. ring.
    + rewrite mean_const by exact some. unfold mean at 2. rewrite sum_swap.
      rewrite (sum_zero (draws B)) by (intros; apply Z). unfold Rdiv. ring.
Qed.

(* Probability of what is decided, and the union bound. *)
Definition prob (B : nat) (A : list T -> bool) : R := expect B (fun D => only (A D) 1).

Definition above (X : list T -> R) (t : R) (D : list T) : bool := if Rlt_dec t (X D) then true else false.

Definition at_most (X : list T -> R) (t : R) (D : list T) : bool := negb (above X t D).

Lemma at_most_true X t D : at_most X t D = true -> X D <= t.
Proof. unfold at_most, above. destruct (Rlt_dec t (X D)); [discriminate|intros _; lra]. Qed.

Lemma prob_both B A A' e e' : 1 - prob B A <= e -> 1 - prob B A' <= e' ->
  1 - (e + e') <= prob B (fun D => A D && A' D).
Proof.
  intros P Q. unfold prob in *.
  assert (expect B (fun D => only (A D) 1 + 1 * only (A' D) 1)
          <= expect B (fun D => 1 + 1 * only (A D && A' D) 1)) as L.
  { apply expect_le. intros D _. destruct (A D), (A' D); simpl; lra. }
  rewrite !expect_lin, expect_const in L. lra.
Qed.

Lemma prob_at_most B X t : 1 - prob B (at_most X t) = prob B (above X t).
Proof.
  unfold prob, at_most. replace (expect B (fun D => only (negb (above X t D)) 1))
    with (expect B (fun D => 1 + -1 * only (above X t D) 1)).
  - rewrite expect_lin, expect_const. ring.
  - unfold expect. f_equal. apply sum_ext. intros D _. destruct (above X t D); simpl; ring.
Qed.

(* McDiarmid's inequality for B draws: if changing one draw changes X by at most c, then X exceeds its
   mean by more than c sqrt(B log(1/delta) / 2) with probability at most delta. *)
Definition McDiarmid : Prop := forall B X c delta,
  (0 < B)%nat -> 0 <= c -> 0 < delta < 1 ->
  (forall l p p' l', In (l ++ p :: l') (draws B) -> In (l ++ p' :: l') (draws B) ->
     X (l ++ p :: l') - X (l ++ p' :: l') <= c) ->
  prob B (above X (expect B X + c * sqrt (INR B * ln (1 / delta) / 2))) <= delta.
End Draws.

(* Signs, and sums with signs. *)
Definition sign (b : bool) : R := if b then 1 else -1.

Fixpoint signs (B : nat) : list (list bool) :=
  match B with
  | O => [[]]
  | S B => map (cons true) (signs B) ++ map (cons false) (signs B)
  end.

Fixpoint signed {T : Type} (s : list bool) (D : list T) (f : T -> R) : R :=
  match s, D with
  | b :: s, p :: D => sign b * f p + signed s D f
  | _, _ => 0
  end.

Fixpoint signed_vector {T : Type} {H : Space} (s : list bool) (D : list T) (v : T -> H) : H :=
  match s, D with
  | b :: s, p :: D => add (scal (sign b) (v p)) (signed_vector s D v)
  | _, _ => zero
  end.

Definition is_sup {K : Type} (Theta : K -> Prop) (f : K -> R) (m : R) : Prop :=
  is_lub (fun y => exists h, Theta h /\ y = f h) m.

(* The contraction principle, without absolute values: psi_p is 1-Lipschitz and 0 at 0. A is the
   supremum with it, and C at least that without it, for each choice of signs. *)
Definition contraction_principle (T K : Type) : Prop :=
  forall (Theta : K -> Prop) (D : list T) (t : K -> T -> R) (psi : T -> R -> R) (A C : list bool -> R),
  (forall p x y, Rabs (psi p x - psi p y) <= Rabs (x - y)) -> (forall p, psi p 0 = 0) ->
  (forall s, In s (signs (length D)) -> is_sup Theta (fun h => signed s D (fun p => psi p (t h p))) (A s)) ->
  (forall s h, In s (signs (length D)) -> Theta h -> signed s D (t h) <= C s) ->
  sum (signs (length D)) A <= sum (signs (length D)) C.

Lemma sum_signs B Y : sum (signs (S B)) Y = \sum_(s <- signs B) (Y (true :: s) + Y (false :: s)).
Proof. simpl. now rewrite sum_app, !sum_map, sum_add. Qed.

Lemma signs_number B : sum (signs B) (fun _ => 1) = 2 ^ B.
Proof.
  induction B as [|B IH]; [simpl; ring|]. rewrite sum_signs, sum_add, !IH. simpl. ring.
Qed.

Lemma signs_length B s : In s (signs B) -> length s = B.
Proof.
  revert s. induction B as [|B IH]; simpl; intros s Hs; [now destruct Hs as [<-|[]]|].
  apply in_app_iff in Hs. destruct Hs as [Hs|Hs]; apply in_map_iff in Hs;
  destruct Hs as [s' [<- Hs']]; simpl; now rewrite IH.
Qed.

Lemma sum_signs_flip B Y : \sum_(s <- signs B) Y (map negb s) = sum (signs B) Y.
Proof.
  revert Y. induction B as [|B IH]; intro Y; [reflexivity|]. rewrite !sum_signs, !sum_add. simpl.
  rewrite (IH (fun s => Y (false :: s))), (IH (fun s => Y (true :: s))). ring.
Qed.

Lemma signs_norm2 {T : Type} {H : Space} (v : T -> H) D :
  \sum_(s <- signs (length D)) norm2 (signed_vector s D v) = 2 ^ length D * \sum_(p <- D) norm2 (v p).
Proof.
  induction D as [|p D IH]; [simpl; unfold norm2; rewrite dot_zero; ring|]. simpl length.
  rewrite sum_signs, sum_cons.
  rewrite (sum_ext (signs (length D)) _ (fun s => 2 * norm2 (v p) * 1 + 2 * norm2 (signed_vector s D v))).
  - rewrite sum_add, !sum_scal, signs_number, IH. simpl. ring.
  - intros s _. simpl. dots. ring.
Qed.

Lemma dot_signed_vector {T : Type} {H : Space} (v : T -> H) s D f :
  dot f (signed_vector s D v) = signed s D (fun p => dot f (v p)).
Proof.
  revert D. induction s as [|b s IH]; intros [|p D]; simpl; try apply dot_zero_r.
  now rewrite dot_add_r, dot_scal_r, IH.
Qed.

(* Symmetrisation: the supremum of mean - sample mean is at most twice that with random signs. *)
Section Symmetrisation.
Context {T K : Type} (Lam : list T) (Theta : K -> Prop) (phi : K -> T -> R) (B : nat).
Hypothesis some : Lam <> [].
Hypothesis B_pos : (0 < B)%nat.

Fixpoint chosen (s : list bool) (D' D : list T) : list T :=
  match s, D', D with
  | b :: s, p' :: D', p :: D => (if b then p' else p) :: chosen s D' D
  | _, _, _ => []
  end.

Lemma swap_invariant C : forall s (W : list T -> list T -> R), length s = C ->
  \sum_(D' <- draws Lam C) \sum_(D <- draws Lam C) W D' D
  = \sum_(D' <- draws Lam C) \sum_(D <- draws Lam C) W (chosen s D' D) (chosen (map negb s) D' D).
Proof.
  induction C as [|C IH]; intros s W L.
  - destruct s; [|discriminate]. reflexivity.
  - destruct s as [|b s]; [discriminate|]. injection L as L.
    assert (forall V : list T -> list T -> R,
      \sum_(D' <- draws Lam (S C)) \sum_(D <- draws Lam (S C)) V D' D
      = \sum_(p' <- Lam) \sum_(p <- Lam) \sum_(D' <- draws Lam C) \sum_(D <- draws Lam C) V (p' :: D') (p :: D)) as Split.
    { intro V. rewrite sum_draws. apply sum_ext. intros p' _.
      rewrite (sum_ext (draws Lam C) _ (fun D' => \sum_(p <- Lam) \sum_(D <- draws Lam C) V (p' :: D') (p :: D)))
        by (intros; apply sum_draws). apply sum_swap. }
    rewrite !Split. destruct b; simpl.
    + apply sum_ext. intros p' _. apply sum_ext. intros p _.
      apply (IH s (fun D' D => W (p' :: D') (p :: D)) L).
    + rewrite sum_swap. apply sum_ext. intros p' _. apply sum_ext. intros p _.
      apply (IH s (fun D' D => W (p :: D') (p' :: D)) L).
Qed.

Lemma signed_of_chosen f C : forall s D' D, length s = C -> length D' = C -> length D = C ->
  sum (chosen s D' D) f - sum (chosen (map negb s) D' D) f = signed s D' f + signed (map negb s) D f.
Proof.
  induction C as [|C IH]; intros [|b s] [|p' D'] [|p D] L1 L2 L3; try discriminate; [simpl; ring|].
  injection L1 as L1. injection L2 as L2. injection L3 as L3. specialize (IH s D' D L1 L2 L3).
  destruct b; simpl in *; lra.
Qed.

Variables (G : list T -> R) (W : list T -> list T -> R) (A : list bool -> list T -> R).
Hypothesis G_sup : forall D, In D (draws Lam B) -> is_sup Theta (fun h => mean Lam (phi h) - mean D (phi h)) (G D).
Hypothesis W_sup : forall D' D, length D' = B -> length D = B -> is_sup Theta (fun h => sum D' (phi h) - sum D (phi h)) (W D' D).
Hypothesis A_sup : forall s D, length s = B -> length D = B -> is_sup Theta (fun h => signed s D (phi h)) (A s D).

Lemma ghost D : In D (draws Lam B) -> INR B * G D <= expect Lam B (fun D' => W D' D).
Proof.
  intro HD. assert (0 < INR B) as Bp by now apply lt_0_INR.
  destruct (draws_are Lam B D HD) as [Len _].
  apply Rmult_le_reg_l with (/ INR B); [now apply Rinv_0_lt_compat|].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. apply (G_sup D HD).
  intros y [h [Th ->]].
  apply Rmult_le_reg_l with (INR B); [exact Bp|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  replace (INR B * (mean Lam (phi h) - mean D (phi h))) with (expect Lam B (fun D' => sum D' (phi h) + - sum D (phi h) * 1)).
  - apply expect_le; [exact some|]. intros D' HD'. destruct (draws_are Lam B D' HD') as [Len' _].
    apply (W_sup D' D Len' Len). exists h. split; [exact Th|ring].
  - rewrite expect_lin, expect_const, expect_sum by exact some. unfold mean. rewrite Len. field.
    split; [lra|]. pose proof (length_pos Lam some). lra.
Qed.

Theorem symmetrisation :
  expect Lam B G <= 2 / INR B * expect Lam B (fun D => (\sum_(s <- signs B) A s D) / 2 ^ B).
Proof.
  assert (0 < INR B) as Bp by now apply lt_0_INR. pose proof (length_pos Lam some) as Np.
  assert (0 < INR (length Lam) ^ B) as NB by now apply pow_lt.
  assert (0 < 2 ^ B) as TB by (apply pow_lt; lra).
  assert ((2 ^ B * \sum_(D' <- draws Lam B) \sum_(D <- draws Lam B) W D' D)%R
    <= 2 * (INR (length Lam) ^ B * \sum_(D <- draws Lam B) \sum_(s <- signs B) A s D)) as Main.
  { rewrite <- signs_number, <- sum_scal_r.
    apply Rle_trans with (\sum_(s <- signs B) \sum_(D' <- draws Lam B) \sum_(D <- draws Lam B)
      (A s D' + A (map negb s) D)).
    - apply sum_le. intros s Hs. pose proof (signs_length B s Hs) as Ls.
      rewrite Rmult_1_l, (swap_invariant B s W Ls).
      apply sum_le. intros D' HD'. apply sum_le. intros D HD.
      destruct (draws_are Lam B D' HD') as [L' _]. destruct (draws_are Lam B D HD) as [L _].
      assert (length (chosen s D' D) = B /\ length (chosen (map negb s) D' D) = B) as [C1 C2].
      { clear -Ls L' L. revert D' D B Ls L' L. induction s as [|b s IH]; intros [|p' D'] [|p D] [|C] Ls L' L;
        try discriminate; [now split|]. injection Ls as Ls. injection L' as L'. injection L as L.
        destruct (IH D' D C Ls L' L) as [E1 E2]. simpl. now rewrite E1, E2. }
      apply (W_sup _ _ C1 C2). intros y [h [Th ->]].
      rewrite (signed_of_chosen (phi h) B s D' D Ls L' L). apply Rplus_le_compat.
      + apply (A_sup s D' Ls L'). now exists h.
      + apply (A_sup (map negb s) D); [now rewrite map_length|exact L|now exists h].
    - right. rewrite (sum_swap (draws Lam B) (signs B)).
      assert (forall c, \sum_(D <- draws Lam B) c = INR (length Lam) ^ B * c) as Const.
      { intro c. pose proof (expect_const Lam some B c) as E. unfold expect in E.
        apply Rmult_eq_reg_r with (/ INR (length Lam) ^ B); [|apply Rinv_neq_0_compat; lra].
        unfold Rdiv in E. rewrite E. field. lra. }
      rewrite (sum_ext (signs B) _ (fun s => INR (length Lam) ^ B * (\sum_(D <- draws Lam B) A s D)
        + INR (length Lam) ^ B * \sum_(D <- draws Lam B) A (map negb s) D)).
      + rewrite sum_add, !sum_scal, (sum_signs_flip B (fun s => \sum_(D <- draws Lam B) A s D)). ring.
      + intros s _. rewrite <- (Const (\sum_(D <- draws Lam B) A (map negb s) D)), <- sum_scal, <- sum_add.
        apply sum_ext. intros D' _. now rewrite sum_add, Const. }
  apply Rmult_le_reg_l with (INR B); [exact Bp|].
  apply Rle_trans with (expect Lam B (fun D => expect Lam B (fun D' => W D' D))).
  - rewrite <- expect_scal. apply expect_le; [exact some|]. exact ghost.
  - unfold expect at 1. rewrite (sum_ext (draws Lam B) _ (fun D => (\sum_(D' <- draws Lam B) W D' D) * / INR (length Lam) ^ B))
      by reflexivity.
    rewrite sum_scal_r, (sum_swap (draws Lam B) (draws Lam B) (fun D D' => W D' D)).
    unfold expect. unfold Rdiv. rewrite sum_scal_r.
    set (w := \sum_(D' <- draws Lam B) \sum_(D <- draws Lam B) W D' D) in *.
    set (a := \sum_(D <- draws Lam B) \sum_(s <- signs B) A s D) in *.
    set (N := INR (length Lam) ^ B) in *. set (t := 2 ^ B) in *.
    apply Rmult_le_reg_l with (t * (N * N)); [apply Rmult_lt_0_compat; nra|].
    replace (t * (N * N) * (w * / N * / N)) with (t * w) by (field; lra).
    replace (t * (N * N) * (INR B * (2 * / INR B * (a * / t * / N)))) with (2 * (N * a)) by (field; lra).
    exact Main.
Qed.
End Symmetrisation.
