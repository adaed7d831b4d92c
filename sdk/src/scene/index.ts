const SEPARATOR = ' · '
const PARTIES = 3
const CREDITS = 8

/** The facts about a production of the demo scene. */
export interface SceneProduction {
  readonly types: readonly string[]
  /** Groups or people. */
  readonly companies: readonly string[]
  /** Milliseconds since 1970-01-01 UTC; the description shows only the year. */
  readonly released?: number | undefined
  /** Party, competition and rank: `Harbor Party 1993 / Demo #1`. The description shows three. */
  readonly parties?: readonly string[]
  /** The party to which the production is an invitation. */
  readonly invitation?: string | undefined
  /** Credits, of which the description shows eight. */
  readonly credits?: readonly { readonly name: string, readonly role?: string | undefined }[]
  /** Any other facts. */
  readonly facts?: readonly string[]
  /** URLs, at the end of the description. */
  readonly pages: readonly (string | undefined)[]
}

/** Describes a production in one line, which other demo scene providers of the same production can extend. */
export function describeProduction (
  { types, companies, released, parties = [], invitation, credits = [], facts = [], pages }: SceneProduction
): string {
  const by = companies.length === 0 ? [] : ['by', companies.join(', ')]
  const year = released === undefined ? [] : [`(${new Date(released).getUTCFullYear()})`]
  return join([
    [...types.length === 0 ? [] : [types.join(', ')], ...by, ...year].join(' '),
    ...parties.slice(0, PARTIES),
    invitation && `invitation to ${invitation}`,
    joinCredits(credits.slice(0, CREDITS)),
    ...facts,
    ...pages
  ])
}

/** Extends another provider's line about the same production with more facts before its pages, and more pages. */
export function completeDescription (
  description: string, { facts = [], pages }: Pick<SceneProduction, 'facts' | 'pages'>
): string {
  const parts = description.split(SEPARATOR)
  const firstPage = parts.findIndex((part) => /^https?:/.test(part))
  parts.splice(firstPage === -1 ? parts.length : firstPage, 0, ...facts)
  return join([...parts, ...pages.filter((page) => page !== undefined && !parts.includes(page))])
}

function join (parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(SEPARATOR)
}

function joinCredits (credits: NonNullable<SceneProduction['credits']>): string {
  const byRole = Map.groupBy(credits, ({ role = '' }) => role)
  return [...byRole].map(([role, some]) => {
    const names = some.map(({ name }) => name).join(', ')
    return role === '' ? names : `${role}: ${names}`
  }).join('; ')
}
