import { PLATFORMS, type PlatformEntry } from '@svc/plugin-sdk'
import ids from '../data/platforms.json' with { type: 'json' }

/** On the others, such as the Neo Geos, which have one entry for all, it is looked for among those of all platforms. */
export const PLATFORM_IDS: Readonly<Record<string, PlatformEntry>> =
  { ...Object.fromEntries(PLATFORMS.map(({ slug }) => [slug, true])), ...ids }
