import { PLATFORMS, type PlatformFacts } from '@svc/plugin-sdk'
import type { SectionOf } from '../../core/config/section.ts'
import type { systemConfig } from './config.ts'
import versions from './data/versions.json' with { type: 'json' }

export type PlatformBindings = SectionOf<typeof systemConfig>

/** The platform of a library folder. */
export interface ResolvedPlatform {
  slug: string
  name: string
  /** Null for an unknown platform. */
  facts: PlatformFacts | null
}

const BY_SLUG = new Map(PLATFORMS.map((facts) => [facts.slug, facts]))

/**
 * The names that RetroArch, LaunchBox and collections of dumps give to folders, such as "Sony - PlayStation". Some
 * platforms share one: the platform with the rest of that name as its own comes last, and wins.
 */
const FULL_NAMES = PLATFORMS.flatMap((facts) => [facts.libretro_slug, facts.launchbox_name, facts.name]
  .filter((name) => name !== null).map((name) => [name.toLowerCase(), facts] as const))
  .sort((one, other) => Number(isNamedAfter(...one)) - Number(isNamedAfter(...other)))

function isNamedAfter (name: string, facts: PlatformFacts): boolean {
  return name.endsWith(facts.name.toLowerCase())
}

const BY_WORD = new Map([
  ...FULL_NAMES,
  ...PLATFORMS.flatMap((facts) => facts.aliases.map((alias) => [alias, facts] as const)),
  // Slugs come last in the map, because a slug precedes another platform's alias.
  ...PLATFORMS.map((facts) => [facts.slug, facts] as const)
])

/** Models and editions that IGDB lists as separate platforms, with the platform of which they are a version. */
const PARENTS = new Map(Object.entries(versions)
  .flatMap(([parent, slugs]) => slugs.map((slug) => [slug, parent] as const)))

const titleCase = (name: string) => name.replaceAll(/[-_\s]+/g, ' ').trim()
  .replaceAll(/(^|\s)(\p{L})/gu, (_all, space: string, letter: string) => space + letter.toUpperCase())

function findByFolder (bindings: Readonly<Record<string, string>>, folder: string): string | undefined {
  return Object.entries(bindings).find(([key]) => key.toLowerCase() === folder)?.[1]
}

function resolveWord (word: string): ResolvedPlatform {
  const facts = BY_WORD.get(word.toLowerCase()) ?? null
  return { slug: facts?.slug ?? word, name: facts?.name ?? (titleCase(word) || word), facts }
}

/**
 * Returns the platform of a folder. A binding comes first, then a version of another platform, which keeps its slug and
 * gets the facts of that one. Next are the folder's name as slug, alias or full name, and known versions. Any other
 * folder is a new platform. Names compare without case.
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

/**
 * Returns the facts of a stored platform: those of its folder if this still resolves to the platform, else those of its
 * slug.
 */
export function factsOf (
  platform: { slug: string, fs_slug: string }, bindings: PlatformBindings
): PlatformFacts | null {
  const resolved = resolvePlatform(platform.fs_slug, bindings)
  return resolved.slug === platform.slug ? resolved.facts : BY_SLUG.get(platform.slug) ?? null
}
