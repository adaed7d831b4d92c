import type { Device } from '../devices/entities.ts'
import { RESOLUTIONS, type Resolution } from './schemas.ts'

/**
 * Returns how a device that lists by file resolves conflicts. A device that only receives gives its own file to the
 * server as a version.
 */
export function readResolution ({ sync_mode: mode, sync_config: config }: Device): Resolution {
  if (mode === 'pull_only') return 'server_wins'
  const configured = config?.conflict_resolution
  return RESOLUTIONS.find((resolution) => resolution === configured) ?? 'keep_both'
}
