import { type Static, Type } from '@sinclair/typebox'
import { ErrorFieldsSchema } from './errors.ts'

const Args = Type.Unsafe<readonly unknown[]>(Type.Array(Type.Unknown()))

/** Messages between the two ends of a channel. */
export const MessageSchema = Type.Union([
  Type.Object({ type: Type.Literal('call'), id: Type.Number(), method: Type.String(), args: Args, scope: Type.Number() }),
  Type.Object({ type: Type.Literal('abort'), id: Type.Number(), reason: ErrorFieldsSchema }),
  Type.Object({ type: Type.Literal('result'), id: Type.Number(), value: Type.Unknown() }),
  Type.Object({ type: Type.Literal('error'), id: Type.Number(), error: ErrorFieldsSchema }),
  /** A message without a response. */
  Type.Object({ type: Type.Literal('tell'), method: Type.String(), args: Args, scope: Type.Number() })
])
export type Message = Static<typeof MessageSchema>
