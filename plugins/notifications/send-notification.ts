import { type Caller, isAdministrator } from '../../core/access/auth.ts'
import { forbidden, invalid, notFound } from '../../core/errors.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import { type Draft, isBuiltIn } from './kinds.ts'
import { isInternalLink } from './link.ts'
import type { SendNotification } from './schemas.ts'
import type { Recipients } from './rows.ts'

const DATA_MAX = 4_096
/** Maximum number of characters of a link that an error quotes. */
const QUOTED_MAX = 100

function readKind (kind: string): string {
  if (!isBuiltIn(kind)) return kind
  throw invalid(['body', 'kind'], `'${kind}' is a built-in kind; use another name, or custom`, kind)
}

function readLink (link: string | null): string | null {
  if (link === null || isInternalLink(link)) return link
  throw invalid(['body', 'link'], `'${link.slice(0, QUOTED_MAX).toWellFormed()}' is not a path of this server; ` +
    'give a path that starts with one slash, such as /rom/7, without spaces, backslashes and dot segments')
}

const invalidData = (problem: string) => invalid(['body', 'data'], `data ${problem}`)

function checkValues (value: unknown): void {
  // JSON may contain numbers that are too large for a double and become infinity.
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidData('contains a number that is too large; send it as text')
  if (typeof value !== 'object' || value === null) return
  for (const inner of Object.values(value)) checkValues(inner)
}

function readData (data: object): Record<string, unknown> {
  checkValues(data)
  const json = JSON.stringify(data)
  if (json.length > DATA_MAX) throw invalidData(`has ${json.length} characters as JSON; send at most ${DATA_MAX}`)
  if (toDatabaseJson(data) !== json) {
    throw invalidData('contains a character that cannot be stored (NUL or an unpaired surrogate); remove it')
  }
  return { ...data }
}

/** Converts the input of a client to a draft. @throws ApiError INVALID */
export function readDraft ({ title, body, level = 'info', kind = 'custom', link, icon, data = {} }: SendNotification): Draft {
  const sentText = {
    title: title.toWellFormed(), body: body?.toWellFormed() ?? null, link: readLink(link ?? null), icon: icon ?? null
  }
  return {
    kind: readKind(kind),
    level,
    sentText,
    data: readData(data),
    topic: 'custom',
    text: { title: sentText.title, body: sentText.body ?? '', path: sentText.link }
  }
}

/** Returns the recipients that a client may send to. @throws ApiError FORBIDDEN */
export function readRecipients (caller: Caller, given: SendNotification['recipients']): Recipients {
  const to = given ?? [caller.id]
  const isOwn = typeof to !== 'string' && to.every((id) => id === caller.id)
  if (isOwn || isAdministrator(caller)) return to
  throw forbidden('Only an administrator with the scope users.write may send to others; remove recipients to send to yourself')
}

/** @throws ApiError NOT_FOUND unless all named users receive the notification */
export function checkFound (to: Recipients, found: readonly number[]): void {
  const ids = new Set(found)
  const missing = typeof to === 'string' ? undefined : to.find((id) => !ids.has(id))
  if (missing !== undefined) throw notFound(`User with ID '${missing}' not found or disabled; nothing was sent`)
}
