export const SCAN_TYPES = ['new_platforms', 'quick', 'update', 'unmatched', 'complete', 'hashes'] as const
export type ScanType = typeof SCAN_TYPES[number]

/** How a scan chooses ROMs, and whom it asks about them. */
export interface ScanChoice {
  type: ScanType
  /** Keys of the providers that were asked for and can be asked. */
  selected: readonly string[]
}
