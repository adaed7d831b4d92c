export const SCAN_TYPES = ['new_platforms', 'quick', 'update', 'unmatched', 'complete', 'hashes'] as const
export type ScanType = typeof SCAN_TYPES[number]
