(* docs/proof-files.md: the whole-number sums of exact/proof/check_proof.py, line by line, and what they
   mean. `ladder`, `ramp` and `largest_flow` are the functions of these names there. *)
From Coq Require Import ZArith List Lia Permutation Sorted Bool.
Import ListNotations.
Open Scope Z_scope.

Fixpoint zsum {A : Type} (l : list A) (f : A -> Z) : Z :=
  match l with
  | [] => 0
  | x :: rest => f x + zsum rest f
  end.

Lemma zsum_ext {A : Type} (l : list A) f g : (forall x, In x l -> f x = g x) -> zsum l f = zsum l g.
Proof. induction l as [|x l IH]; simpl; intro H; [reflexivity|]. rewrite (H x), IH; auto. Qed.

Lemma zsum_perm {A : Type} (l m : list A) f : Permutation l m -> zsum l f = zsum m f.
Proof. induction 1; simpl; lia. Qed.

Lemma zsum_add {A : Type} (l : list A) f g : zsum l (fun x => f x + g x) = zsum l f + zsum l g.
Proof. induction l as [|x l IH]; simpl; lia. Qed.

Lemma zsum_scal {A : Type} (l : list A) c f : zsum l (fun x => c * f x) = c * zsum l f.
Proof. induction l as [|x l IH]; simpl; lia. Qed.

Lemma zsum_filter {A : Type} (l : list A) p f :
  zsum (filter p l) f = zsum l (fun x => if p x then f x else 0).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. destruct (p x); simpl; lia. Qed.

Lemma zsum_map {A B : Type} (h : A -> B) l f : zsum (map h l) f = zsum l (fun x => f (h x)).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. lia. Qed.

Lemma zsum_swap {A B : Type} (l : list A) (m : list B) f :
  zsum l (fun i => zsum m (fun j => f i j)) = zsum m (fun j => zsum l (fun i => f i j)).
Proof.
  induction l as [|x l IH]; simpl.
  - induction m as [|y m IH]; simpl; lia.
  - rewrite IH, <- zsum_add. reflexivity.
Qed.

Lemma zsum_firstn_skipn {A : Type} k (l : list A) f : zsum (firstn k l) f + zsum (skipn k l) f = zsum l f.
Proof. revert k. induction l as [|x l IH]; intros [|k]; simpl; try lia. specialize (IH k). lia. Qed.

Lemma zsum_nonneg {A : Type} (l : list A) f : (forall x, In x l -> 0 <= f x) -> 0 <= zsum l f.
Proof. induction l as [|x l IH]; simpl; intro H; [lia|]. pose proof (H x (or_introl eq_refl)). assert (0 <= zsum l f) by auto. lia. Qed.

(* Entries are (value, weight). np.argsort: ascending by value. *)
Definition entry : Type := (Z * Z)%type.

Fixpoint insert (p : entry) (l : list entry) : list entry :=
  match l with
  | [] => [p]
  | q :: rest => if fst p <=? fst q then p :: l else q :: insert p rest
  end.

Definition ascending (l : list entry) : list entry := fold_right insert [] l.

Definition sorted : list entry -> Prop := StronglySorted (fun p q => fst p <= fst q).

Lemma insert_perm p l : Permutation (p :: l) (insert p l).
Proof.
  induction l as [|q l IH]; simpl; [auto|]. destruct (fst p <=? fst q); [auto|].
  apply perm_trans with (q :: p :: l); [constructor|]. now constructor.
Qed.

Lemma ascending_perm l : Permutation l (ascending l).
Proof.
  induction l as [|p l IH]; simpl; [constructor|].
  apply perm_trans with (p :: ascending l); [now constructor|apply insert_perm].
Qed.

Lemma insert_sorted p l : sorted l -> sorted (insert p l).
Proof.
  unfold sorted. induction 1 as [|q l Srt IH F]; simpl; [repeat constructor|].
  destruct (Z.leb_spec (fst p) (fst q)) as [L|L].
  - constructor; [now constructor|]. constructor; [exact L|].
    rewrite Forall_forall in *. intros r Hr. specialize (F r Hr). lia.
  - constructor; [exact IH|]. rewrite Forall_forall in *. intros r Hr.
    apply (Permutation_in _ (Permutation_sym (insert_perm p l))) in Hr. destruct Hr as [<-|Hr]; [lia|auto].
Qed.

Lemma ascending_sorted l : sorted (ascending l).
Proof. induction l as [|p l IH]; simpl; [constructor|]. now apply insert_sorted. Qed.

(* np.searchsorted(values, x, side="right"): the number of values <= x. *)
Definition position (x : Z) (l : list entry) : nat := length (filter (fun p => fst p <=? x) l).

(* below[k], moment[k]: what the first k entries weigh, and their weighted values. *)
Definition below (k : nat) (l : list entry) : Z := zsum (firstn k l) snd.
Definition moment (k : nat) (l : list entry) : Z := zsum (firstn k l) (fun p => snd p * fst p).

Definition ramp (l : list entry) (at_ cap : Z) : Z :=
  let s := ascending l in
  let i := position at_ s in
  let k := position (at_ + cap) s in
  moment k s - moment i s - at_ * (below k s - below i s) + cap * (below (length s) s - below k s).

Definition clip (low high x : Z) : Z := Z.max low (Z.min high x).

Lemma first_is_filter x l : sorted l -> firstn (position x l) l = filter (fun p => fst p <=? x) l.
Proof.
  unfold sorted, position. induction 1 as [|q l Srt IH F]; [reflexivity|]. simpl.
  destruct (Z.leb_spec (fst q) x) as [L|L]; simpl; [now rewrite IH|].
  rewrite Forall_forall in F.
  assert (filter (fun p => fst p <=? x) l = []) as ->; [|reflexivity].
  clear -F L. induction l as [|r l IH]; simpl; [reflexivity|].
  destruct (Z.leb_spec (fst r) x) as [M|M]; [|apply IH; intros; apply F; now right].
  specialize (F r (or_introl eq_refl)). lia.
Qed.

Lemma below_position x l : sorted l -> below (position x l) l = zsum l (fun p => if fst p <=? x then snd p else 0).
Proof. intro Srt. unfold below. now rewrite first_is_filter, zsum_filter. Qed.

Lemma moment_position x l :
  sorted l -> moment (position x l) l = zsum l (fun p => if fst p <=? x then snd p * fst p else 0).
Proof. intro Srt. unfold moment. now rewrite first_is_filter, zsum_filter. Qed.

Lemma below_all l : below (length l) l = zsum l snd.
Proof. unfold below. now rewrite firstn_all. Qed.

(* `ramp` is the sum of weight * clip(value - at, 0, cap). *)
Theorem ramp_meaning l at_ cap :
  0 <= cap -> ramp l at_ cap = zsum l (fun p => snd p * clip 0 cap (fst p - at_)).
Proof.
  intro C. unfold ramp. pose proof (ascending_sorted l) as Srt.
  rewrite (zsum_perm l (ascending l)) by apply ascending_perm.
  set (s := ascending l) in *. rewrite !below_position, !moment_position, below_all by exact Srt.
  clear Srt. induction s as [|p s IH]; simpl; [lia|].
  rewrite !Z.mul_sub_distr_l, !Z.mul_add_distr_l in *. unfold clip in *.
  set (x := Z.max 0 (Z.min cap (fst p - at_))).
  destruct (Z.leb_spec (fst p) at_), (Z.leb_spec (fst p) (at_ + cap)).
  - replace x with 0 by lia. lia.
  - lia.
  - replace x with (fst p - at_) by lia. lia.
  - replace x with cap by lia. lia.
Qed.

(* Sums modulo 2^64, as int64 has them, are right where the true sum is small. *)
Theorem modulo_is_harmless computed true_sum :
  (computed - true_sum) mod 2 ^ 64 = 0 -> - 2 ^ 63 <= computed < 2 ^ 63 -> 0 <= true_sum < 2 ^ 62 ->
  computed = true_sum.
Proof.
  intros M C T. apply Z.mod_divide in M; [|lia]. destruct M as [q Q]. nia.
Qed.

(* `largest_flow`: rows (u, a) in descending order of u, columns (v, b); `used` is -u * a. *)
Definition row_order (rows : list entry) : list entry :=
  ascending (map (fun p => (- fst p, snd p)) rows).

Definition flow_at (t : nat) (rows cols : list entry) (cap : Z) : Z :=
  let k := position (cap * below t rows) cols in
  moment k cols + cap * below t rows * (below (length cols) cols - below k cols) + moment t rows.

Fixpoint least (candidates : list Z) (first : Z) : Z :=
  match candidates with
  | [] => first
  | x :: rest => Z.min x (least rest first)
  end.

Definition largest_flow (rows cols : list entry) (cap : Z) : Z :=
  let r := row_order rows in
  let c := ascending cols in
  let candidates := map (fun t => flow_at t r c cap) (seq 0 (S (length r))) in
  least candidates (flow_at 0 r c cap) - moment (length r) r.

Lemma least_below candidates first x : In x (first :: candidates) -> least candidates first <= x.
Proof.
  induction candidates as [|y l IH]; simpl; [intros [->|[]]; lia|].
  intros [->|[->|H]]; [specialize (IH (or_introl eq_refl))| |specialize (IH (or_intror H))]; lia.
Qed.

Lemma least_attained candidates first : In (least candidates first) (first :: candidates).
Proof.
  induction candidates as [|y l IH]; simpl; [now left|].
  destruct (Z.min_spec y (least l first)) as [[_ ->]|[_ ->]]; [right; now left|].
  destruct IH as [E|H]; [now left|right; now right].
Qed.

(* What the columns let through, and the u of the rows before. *)
Lemma flow_at_meaning t rows cols cap : sorted cols ->
  flow_at t rows cols cap
  = zsum cols (fun q => snd q * Z.min (fst q) (cap * below t rows)) + moment t rows.
Proof.
  intro Srt. unfold flow_at. rewrite below_position, moment_position, below_all by exact Srt.
  f_equal. generalize (cap * below t rows) as x. intro x. clear Srt.
  induction cols as [|q cols IH]; simpl; [lia|].
  rewrite !Z.mul_sub_distr_l, !Z.mul_add_distr_l in *.
  destruct (Z.leb_spec (fst q) x); [rewrite Z.min_l by lia|rewrite Z.min_r by lia]; lia.
Qed.
