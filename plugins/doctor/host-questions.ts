import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Secrets } from '../../core/access/secrets.ts'
import type { Config } from '../../core/config/config.ts'
import { HOST_SECTIONS } from '../../core/config/host-settings.ts'
import { toSortedJson, withoutHostKeys } from '../settings/shared-sections.ts'

/** The key of a test object, so that no question leads to another file. */
const TEST_OBJECT = /^assets\/\.svc-doctor-[0-9a-f-]{36}$/

const QuestionSchema = Type.Object({
  id: Type.String({ maxLength: 36 }),
  /** The key of an object that every host finds in its store; null if none could be stored. */
  object: Type.Union([Type.String({ pattern: TEST_OBJECT.source }), Type.Null()])
})
export type Question = Static<typeof QuestionSchema>

const AnswerSchema = Type.Object({
  question: Type.String(),
  /** The id of the process in `workers`. */
  worker: Type.String(),
  /** True if the object was found, null if none was named. A text is the reason why the store cannot be used. */
  object: Type.Union([Type.Boolean(), Type.String(), Type.Null()]),
  /** Changes with the secret key. */
  key: Type.String(),
  /** Each changes with the settings of its section. */
  sections: Type.Record(Type.String(), Type.String())
})
export type Answer = Static<typeof AnswerSchema>

/** Reads the payload of a notification; null if another release has another form of it. */
function parse (payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return null
  }
}

export function parseQuestion (payload: string): Question | null {
  const value = parse(payload)
  return Value.Check(QuestionSchema, value) ? value : null
}

export function parseAnswer (payload: string): Answer | null {
  const value = parse(payload)
  return Value.Check(AnswerSchema, value) ? value : null
}

const PURPOSE = 'doctor'
/** Notifications have at most 8,000 bytes. */
const DIGEST_CHARACTERS = 16

/** Describes the settings and the key of a process by digests that reveal neither. */
export function describeSettings (config: Config, secrets: Secrets): Pick<Answer, 'key' | 'sections'> {
  const digest = (text: string) => secrets.sign(PURPOSE, text).slice(0, DIGEST_CHARACTERS)
  const sections = Object.entries(config).filter(([name]) => name !== 'file' && !HOST_SECTIONS.includes(name))
  return {
    key: digest('key'),
    sections: Object.fromEntries(sections.map(([name, value]) =>
      [name, digest(toSortedJson(withoutHostKeys(name, value)))]))
  }
}
