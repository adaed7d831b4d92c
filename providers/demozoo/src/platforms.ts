import { PLATFORMS, type PlatformEntry } from '@svc/plugin-sdk'
import ids from '../data/platforms.json' with { type: 'json' }

/** Platforms without an own id, such as the Neo Geos with one entry for all, are searched on all platforms. */
export const PLATFORM_IDS: Readonly<Record<string, PlatformEntry>> =
  { ...Object.fromEntries(PLATFORMS.map(({ slug }) => [slug, true])), ...ids }
