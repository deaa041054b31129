(* docs/certificates.md, bounds from counts: scores rounded down to a grid of K steps a unit classify
   every pair but those in one step of the margin, and those are bounded. Any pairs, any weights. *)
From Coq Require Import Reals ZArith Lra Lia List Psatz.
From Formal Require Import Sums Space Minorant Penalties Losses PairLosses.
Import ListNotations.
Open Scope R_scope.

Definition floor_of (x : R) (z : Z) : Prop := IZR z <= x < IZR z + 1.

Section OnePair.
Variables (K : Z) (s t : R) (a b : Z).
Hypothesis steps : (0 < K)%Z.
Hypothesis a_floor : floor_of (IZR K * s) a.
Hypothesis b_floor : floor_of (IZR K * t) b.

Let m : Z := (b - a + K)%Z.
(* The residuals, in [0, 1). *)
Let theta_s : R := IZR K * s - IZR a.
Let theta_t : R := IZR K * t - IZR b.

Lemma shortfall_in_bins : IZR K * (1 - (s - t)) = IZR m + (theta_t - theta_s).
Proof. unfold m, theta_s, theta_t. rewrite plus_IZR, minus_IZR. ring. Qed.

Lemma residuals : 0 <= theta_s < 1 /\ 0 <= theta_t < 1.
Proof. unfold theta_s, theta_t, floor_of in *. lra. Qed.

Lemma K_pos : 0 < IZR K.
Proof. now apply IZR_lt. Qed.

Theorem bins_classify :
  ((1 <= m)%Z -> 0 < 1 - (s - t)) /\ ((m <= -1)%Z -> 1 - (s - t) < 0) /\
  (m = 0%Z -> -1 < IZR K * (1 - (s - t)) < 1).
Proof.
  pose proof shortfall_in_bins as E. pose proof residuals as Rs. pose proof K_pos as Kp.
  split; [|split]; intro M.
  - apply IZR_le in M. nra.
  - apply IZR_le in M. nra.
  - rewrite M in E. lra.
Qed.

(* Pairs in doubt: three bounds of their hinge. *)
Theorem doubtful_pair : m = 0%Z -> 0 <= hinge (s - t) <= 1 / IZR K.
Proof.
  intro M. split; [apply hinge_nonneg|]. destruct bins_classify as [_ [_ D]]. specialize (D M).
  pose proof K_pos as Kp. apply Rmult_le_reg_l with (IZR K); [exact Kp|].
  replace (IZR K * (1 / IZR K)) with 1 by (field; lra).
  unfold hinge, Rmax. destruct Rle_dec; lra.
Qed.

Theorem doubtful_pair_square :
  m = 0%Z -> hinge (s - t) <= IZR K / 4 * ((1 - (s - t) + 1 / IZR K) * (1 - (s - t) + 1 / IZR K)).
Proof.
  intro M. pose proof K_pos as Kp. set (z := 1 - (s - t)).
  assert (0 <= IZR K / 4 * ((z + 1 / IZR K) * (z + 1 / IZR K))) as P.
  { apply Rmult_le_pos; [lra|apply Rle_0_sqr]. }
  assert (z <= IZR K / 4 * ((z + 1 / IZR K) * (z + 1 / IZR K))) as Q.
  { assert (0 <= IZR K / 4 * ((z - 1 / IZR K) * (z - 1 / IZR K))) as D
      by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
    replace (IZR K / 4 * ((z + 1 / IZR K) * (z + 1 / IZR K)))
      with (z + IZR K / 4 * ((z - 1 / IZR K) * (z - 1 / IZR K))) by (field; lra). lra. }
  unfold hinge. fold z. now apply Rmax_lub.
Qed.

Theorem doubtful_pair_residuals : m = 0%Z -> IZR K * hinge (s - t) <= theta_t * (1 - theta_s).
Proof.
  intro M. pose proof shortfall_in_bins as E. rewrite M in E. pose proof residuals as Rs.
  pose proof K_pos as Kp.
  unfold hinge, Rmax. destruct Rle_dec; nra.
Qed.
End OnePair.

(* Ranges may be clipped one class after the other: every pair keeps its class. *)
Theorem sequential_clipping K a b least_a most_a least_b most_b :
  let clip low high x := Z.max low (Z.min high x) in
  let a' := clip (least_b + K - 1)%Z (most_b + K + 1)%Z a in
  let b' := clip (least_a - K - 1)%Z (most_a - K + 1)%Z b in
  (least_b <= b <= most_b)%Z -> (least_a <= a' <= most_a)%Z ->
  ((1 <= b - a + K)%Z <-> (1 <= b' - a' + K)%Z) /\ ((b - a + K <= -1)%Z <-> (b' - a' + K <= -1)%Z).
Proof. intros clip a' b' B A. unfold a', b', clip in *. lia. Qed.

Section Sums.
Context {I P : Type} (rows : list I) (pairs : list P) (upper lower : P -> I) (w : P -> R).
Hypothesis weights : forall p, In p pairs -> 0 <= w p.
Variables (K : Z) (s : I -> R) (bin : I -> Z).
Hypothesis steps : (0 < K)%Z.
Hypothesis floors : forall i, floor_of (IZR K * s i) (bin i).

Let m (p : P) : Z := (bin (lower p) - bin (upper p) + K)%Z.

(* 1 where the pair is surely active: a feasible alpha, made of whole numbers. *)
Definition hard (p : P) : R := if (1 <=? m p)%Z then 1 else 0.
Definition doubt (p : P) : R := if (m p =? 0)%Z then 1 else 0.

Definition counted : R := \sum_(p <- pairs) w p * (hard p * (1 - (s (upper p) - s (lower p)))).

Theorem counted_hinge :
  counted <= risk pairs upper lower w hinge s
          <= counted + (\sum_(p <- pairs) w p * doubt p) / IZR K.
Proof.
  unfold counted, risk, Rdiv. rewrite <- sum_scal_r, <- sum_add.
  assert (forall p, In p pairs -> hard p * (1 - (s (upper p) - s (lower p)))
    <= hinge (s (upper p) - s (lower p))
    <= hard p * (1 - (s (upper p) - s (lower p))) + doubt p * / IZR K) as One.
  { intros p _. unfold hard, doubt. fold (m p).
    pose proof (floors (upper p)) as Fu. pose proof (floors (lower p)) as Fl.
    destruct (bins_classify K _ _ _ _ steps Fu Fl) as [Act [Idle _]]. fold (m p) in Act, Idle.
    pose proof (doubtful_pair K _ _ _ _ steps Fu Fl) as D. fold (m p) in D.
    destruct (Z.leb_spec 1 (m p)) as [L|L]; destruct (Z.eqb_spec (m p) 0) as [E|E]; try lia.
    - specialize (Act L). unfold hinge. rewrite Rmax_right; lra.
    - specialize (D E). lra.
    - specialize (Idle ltac:(lia)). unfold hinge. rewrite Rmax_left; lra. }
  split; apply sum_le; intros p Hp; specialize (One p Hp); specialize (weights p Hp); nra.
Qed.

(* The counts suffice for it: no sum of scores over bins is needed. *)
Theorem counted_from_marginals (dec : forall x y : I, {x = y} + {x <> y}) :
  NoDup rows -> (forall p, In p pairs -> In (upper p) rows /\ In (lower p) rows) ->
  counted = \sum_(p <- pairs) w p * hard p
            - pairing rows (marginal pairs upper lower w dec hard) s.
Proof.
  intros D Kn. rewrite (pairing_marginal rows pairs upper lower w dec D Kn), <- sum_sub.
  unfold counted. apply sum_ext. intros. ring.
Qed.

(* alpha smoothed over h steps: feasible for any whole numbers, however scores were rounded. *)
Theorem clipped_alpha_feasible (h : Z) p :
  (0 < h)%Z -> 0 <= IZR (Z.max 0 (Z.min (2 * h) (m p + h))) / IZR (2 * h) <= 1.
Proof.
  intro Hp. assert (0 < IZR (2 * h)) by (apply IZR_lt; lia). split.
  - apply Rmult_le_pos; [apply IZR_le; lia|]. left. now apply Rinv_0_lt_compat.
  - apply Rmult_le_reg_r with (IZR (2 * h)); [assumption|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra. apply IZR_le. lia.
Qed.

(* Errors of the scores: the hinge has slope one in either. *)
Theorem score_errors (s' err : I -> R) :
  (forall i, In i rows -> Rabs (s' i - s i) <= err i) ->
  (forall p, In p pairs -> In (upper p) rows /\ In (lower p) rows) ->
  Rabs (risk pairs upper lower w hinge s' - risk pairs upper lower w hinge s)
  <= \sum_(p <- pairs) w p * (err (upper p) + err (lower p)).
Proof.
  intros E Kn. unfold risk. rewrite <- sum_sub. apply Rle_trans with (1 := sum_abs _ _).
  apply sum_le. intros p Hp. rewrite <- Rmult_minus_distr_l, Rabs_mult, Rabs_pos_eq by auto.
  apply Rmult_le_compat_l; [auto|]. destruct (Kn p Hp) as [Ku Kl].
  pose proof (E _ Ku) as Eu. pose proof (E _ Kl) as El.
  assert (forall x y, Rabs (hinge x - hinge y) <= Rabs (x - y)) as Lip.
  { intros x y. unfold hinge, Rmax, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra. }
  apply Rle_trans with (1 := Lip _ _).
  replace (s' (upper p) - s' (lower p) - (s (upper p) - s (lower p)))
    with (s' (upper p) - s (upper p) + - (s' (lower p) - s (lower p))) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. lra.
Qed.
End Sums.
