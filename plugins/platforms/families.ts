import families from './data/families.json' with { type: 'json' }

/** The maker of a platform, or a common name of its makers. */
interface Family { family_name: string, family_slug: string }

/** The names of all families. */
export const FAMILY_NAMES = Object.keys(families)

export function createFamily (name: string): Family {
  return { family_name: name, family_slug: name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') }
}

const BY_PLATFORM: ReadonlyMap<string, Family> = new Map(Object.entries(families).flatMap(([name, slugs]) =>
  slugs.map((slug) => [slug, createFamily(name)] as const)))

/** Returns the family of a platform by its canonical slug; null if it belongs to none. */
export const findFamily = (slug: string): Family | null => BY_PLATFORM.get(slug) ?? null
