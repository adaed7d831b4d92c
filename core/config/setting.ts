import { type TSchema, Type } from '@sinclair/typebox'

/** A boolean that is off unless set. */
export const Switch = (env: string, description: string) => Type.Boolean({ default: false, env, description })
/** A list of names, empty unset. */
export const Names = (description: string, defaults: string[] = [], options: { env?: string } = {}) =>
  Type.Array(Type.String({ minLength: 1 }), { default: defaults, description, ...options })
/** A part of the configuration, there even when nothing in it is set. */
export const Section = <P extends Record<string, TSchema>>(properties: P, description?: string) =>
  Type.Object(properties, { default: {}, description })
