import { PLATFORMS, type PlatformFacts } from '@svc/plugin-sdk'
import type { Config } from '../../core/config/config.ts'
import versions from './data/versions.json' with { type: 'json' }

export type PlatformBindings = Config['system']

/** What a folder of the library is read as. */
export interface ResolvedPlatform {
  slug: string
  name: string
  /** Null for a platform nobody knows. */
  facts: PlatformFacts | null
}

const BY_SLUG = new Map(PLATFORMS.map((facts) => [facts.slug, facts]))
const BY_WORD = new Map([
  ...PLATFORMS.flatMap((facts) => facts.aliases.map((alias) => [alias, facts] as const)),
  // Last, since a slug wins over another platform's alias.
  ...PLATFORMS.map((facts) => [facts.slug, facts] as const)
])

/** Models and editions that IGDB lists as platforms of their own, by the platform they are a version of. */
const PARENTS = new Map(Object.entries(versions)
  .flatMap(([parent, slugs]) => slugs.map((slug) => [slug, parent] as const)))

const titleCase = (name: string) => name.replaceAll(/[-_]+/g, ' ').trim()
  .replaceAll(/(^|\s)(\p{L})/gu, (_all, space: string, letter: string) => space + letter.toUpperCase())

function findByFolder (bindings: Readonly<Record<string, string>>, folder: string): string | undefined {
  return Object.entries(bindings).find(([key]) => key.toLowerCase() === folder)?.[1]
}

function resolveWord (word: string): ResolvedPlatform {
  const facts = BY_WORD.get(word.toLowerCase()) ?? null
  return { slug: facts?.slug ?? word, name: facts?.name ?? (titleCase(word) || word), facts }
}

/**
 * Which platform a folder is: as bound, else a version of another (it keeps its own slug and takes the facts of that
 * one), else by its name as a slug or alias, else a version that is known, else a platform of its own. Names compare
 * without case.
 */
export function resolvePlatform (fsSlug: string, bindings: PlatformBindings): ResolvedPlatform {
  const folder = fsSlug.toLowerCase()
  const bound = findByFolder(bindings.platforms, folder)
  if (bound !== undefined) return resolveWord(bound)
  const { name, facts } = resolveWord(fsSlug)
  const parent = findByFolder(bindings.versions, folder) ?? (facts === null ? PARENTS.get(folder) : undefined)
  if (parent === undefined) return resolveWord(fsSlug)
  return { slug: facts?.slug ?? (PARENTS.has(folder) ? folder : fsSlug), name, facts: resolveWord(parent).facts }
}

/** The facts of a stored platform: those of its folder while that still is this platform, else those of its slug. */
export function factsOf (
  platform: { slug: string, fs_slug: string }, bindings: PlatformBindings
): PlatformFacts | null {
  const resolved = resolvePlatform(platform.fs_slug, bindings)
  return resolved.slug === platform.slug ? resolved.facts : BY_SLUG.get(platform.slug) ?? null
}
