export const SCAN_TYPES = ['new_platforms', 'quick', 'update', 'unmatched', 'complete', 'hashes'] as const
export type ScanType = typeof SCAN_TYPES[number]

/** The type of a scan and the providers that it asks. */
export interface ScanChoice {
  type: ScanType
  /** Keys of the requested providers that can be asked. */
  selected: readonly string[]
}

/** An entry or file that a scan skipped, or a provider whose lookups failed, with the reason. */
export interface ScanProblem {
  platform: string
  path: string
  reason: string
  /** The key of the provider whose failed lookups the reason counts. */
  provider?: string
}
