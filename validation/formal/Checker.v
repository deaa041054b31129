(* docs/proof-files.md: the two bounds that exact/proof/check_proof.py evaluates, in whole numbers and
   fractions, as its function `bounds` has them. Test vectors compare them with that file. *)
From Coq Require Import ZArith QArith List.
From Formal Require Import CheckerSums.
Import ListNotations.
Open Scope Q_scope.

Fixpoint qsum {A : Type} (l : list A) (f : A -> Q) : Q :=
  match l with
  | [] => 0
  | x :: rest => f x + qsum rest f
  end.

Definition squares (l : list Q) : Q := qsum l (fun x => x * x).

(* A row: its score in multiples of 2^-q, and how often it occurs. *)
Definition shifted (d : Z) (l : list entry) : list entry := map (fun p => (fst p + d, snd p)%Z) l.
Definition negated (l : list entry) : list entry := map (fun p => (- fst p, snd p)%Z) l.

Definition weight (l : list entry) : Z := zsum l snd.
Definition pairs (pos neg : list entry) : Z := (weight pos * weight neg)%Z.

(* hinge = sum b v N - sum a u P + one sum a u *)
Definition hinge_sum (one : Z) (pos neg : list entry) : Z :=
  let u p := ramp neg (fst p - one) 1 in
  let v n := ramp (shifted one (negated pos)) (- fst n) 1 in
  (zsum neg (fun n => snd n * v n * fst n) - zsum pos (fun p => snd p * u p * fst p)
   + one * zsum pos (fun p => snd p * u p))%Z.

Definition upper (q : nat) (pos neg : list entry) (slip lam : Q) (w : list Q) : Q :=
  let one := (2 ^ Z.of_nat q)%Z in
  inject_Z (hinge_sum one pos neg) / inject_Z (one * pairs pos neg) + slip + lam / 2 * squares w.

(* kind "weights": scores to bins, and the sums of clip(N - P, 0, cap). *)
Definition binned (q bins : nat) (l : list entry) : list entry :=
  map (fun p => (Z.shiftr (fst p) (Z.of_nat q - Z.of_nat bins), snd p)) l.
Definition cap_of (half : Z) : Z := if (half =? 0)%Z then 1%Z else (2 * half)%Z.

(* bins is the logarithm of K *)
Definition margins (q bins : nat) (half : Z) (pos : list entry) : list entry :=
  shifted (- 2 ^ Z.of_nat bins - half) (binned q bins pos).
Definition weights_u (q bins : nat) (half : Z) (pos neg : list entry) : list Z :=
  map (fun p => ramp (binned q bins neg) (fst p) (cap_of half)) (margins q bins half pos).
Definition weights_v (q bins : nat) (half : Z) (pos neg : list entry) : list Z :=
  map (fun n => ramp (negated (margins q bins half pos)) (- fst n) (cap_of half)) (binned q bins neg).

(* sum a u *)
Definition mass (l : list entry) (u : list Z) : Z :=
  zsum (combine l u) (fun p => snd (fst p) * snd p)%Z.

Definition missing (pos neg : list entry) (u v : list Z) (flow : Z) : Z :=
  (mass pos u + mass neg v - 2 * flow)%Z.

(* The rows of `largest_flow`: (u, a) *)
Definition carried (l : list entry) (u : list Z) : list entry :=
  map (fun p => (snd p, snd (fst p))) (combine l u).

Definition marginals_flow (pos neg : list entry) (u v : list Z) (cap : Z) : Z :=
  largest_flow (carried pos u) (carried neg v) cap.

(* G holds for each column at least |sum of c * row| + missing * far, which `pull` returns. *)
Definition lower (cap flow : Z) (pos neg : list entry) (scale lam : Q) (G : list Q) : Q :=
  let part := scale / inject_Z (cap * pairs pos neg) in
  let value := part * inject_Z flow - part * part * squares G / (2 * lam) in
  if Qle_bool value 0 then 0 else value.
