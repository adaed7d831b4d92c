import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../../core/errors.ts'
import { toFormError } from '../../../core/web/form-error.ts'

const AVATAR_MAX_BYTES = 10 * 1024 * 1024
const FIELD_MAX_BYTES = 64 * 1024
const FIELDS_MAX = 20
const LIMITS = {
  fileSize: AVATAR_MAX_BYTES, files: 1, fieldSize: FIELD_MAX_BYTES, fields: FIELDS_MAX, parts: FIELDS_MAX + 1
}
const FORM_MAX_BYTES = AVATAR_MAX_BYTES + FIELDS_MAX * FIELD_MAX_BYTES
const BOOLEANS = new Map([['true', true], ['1', true], ['on', true], ['false', false], ['0', false], ['off', false]])
/** Fields that a form sends empty if nobody filled them in. */
const SWITCHES = new Set(['enabled', 'keep_tokens'])
const BLANK_MEANS_UNCHANGED = new Set(['password', 'current_password', 'keep_tokens', 'role', 'enabled', 'ra_username', 'ui_settings', 'avatar'])

type Entry = [name: string, value: unknown]

/** Converts the text of a form to a value of the JSON body. */
function toValue (name: string, text: unknown): unknown {
  return SWITCHES.has(name) && typeof text === 'string' ? BOOLEANS.get(text.toLowerCase()) ?? text : text
}

function toBody (entries: Iterable<Entry>): Record<string, unknown> {
  return Object.fromEntries([...entries]
    .filter(([name, value]) => value !== '' || !BLANK_MEANS_UNCHANGED.has(name))
    .map(([name, value]) => [name, toValue(name, value)]))
}

async function readParts (request: FastifyRequest): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const part of request.parts({ limits: LIMITS })) {
    if (part.type === 'file') {
      const content = await part.toBuffer()
      // For an untouched field, a browser sends a file without content.
      if (content.length > 0) entries.push([part.fieldname, content])
    } else {
      if (part.valueTruncated) throw new ApiError('TOO_LARGE', `The field '${part.fieldname}' is larger than 64 KiB`)
      entries.push([part.fieldname, part.value])
    }
  }
  return entries
}

async function readMultipart (request: FastifyRequest): Promise<Record<string, unknown>> {
  if (Number(request.headers['content-length'] ?? 0) > FORM_MAX_BYTES) {
    throw new ApiError('TOO_LARGE', 'The form is larger than allowed; an avatar may have 10 MiB')
  }
  try {
    return toBody(await readParts(request))
  } catch (err) {
    throw toFormError(err)
  }
}

/** Converts a multipart or urlencoded form to the shape of the JSON body. */
export async function readUpdateForm (request: FastifyRequest): Promise<void> {
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
  if (request.isMultipart()) request.body = await readMultipart(request)
  else if (isForm && typeof request.body === 'object' && request.body !== null) request.body = toBody(Object.entries(request.body))
  else request.body ??= {}
}
