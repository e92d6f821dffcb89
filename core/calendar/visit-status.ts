// What becomes of a planned visit. Apart from the plan, which pages without one need not load.
export const visitStatuses = ['PLANNED', 'MOVED', 'SKIPPED', 'APPOINTMENT', 'CANCELLED'] as const;
export type VisitStatus = (typeof visitStatuses)[number];

/** Whether somebody comes. */
export function takesPlace(status: VisitStatus): boolean {
  return status !== 'SKIPPED' && status !== 'CANCELLED';
}
