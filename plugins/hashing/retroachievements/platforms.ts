import { PLATFORMS } from '@svc/plugin-sdk'
import { ruleOf } from './consoles.ts'

/** The id that RetroAchievements gives the console of a platform; null when it has no hash rule for it. */
export function consoleOf (slug: string): number | null {
  return CONSOLES.get(slug) ?? null
}

const CONSOLES = new Map(PLATFORMS.flatMap(({ slug, ra_id: id }): [string, number][] =>
  id === null || ruleOf(id) === null ? [] : [[slug, id]]))
