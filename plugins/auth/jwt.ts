import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { databaseDate, databaseNow } from '../../core/database/clock.ts'
import type { Secrets } from '../../core/access/secrets.ts'

const ISSUER = 'svc:oauth'
/** RFC 7518 section 3.2. */
const ALGORITHM = 'HS256'

/** The purpose of a token. Each purpose has a key of its own. */
export type JwtType = 'access' | 'refresh' | 'reset' | 'invite'

const ClaimsSchema = Type.Object({
  /** The username. */
  sub: Type.String(),
  type: Type.String(),
  /** Scopes, separated by spaces. */
  scopes: Type.Optional(Type.String()),
  /** Id of a token for one use. */
  jti: Type.Optional(Type.String()),
  /** Id of the sign-in to which the token belongs. */
  sid: Type.Optional(Type.String()),
  /** A mark of account and password. It changes with the password, and if another account takes the name. */
  pwd: Type.Optional(Type.String())
})
export type Claims = Static<typeof ClaimsSchema>

export function createJwts (secrets: Secrets) {
  const keyFor = (type: JwtType) => secrets.key(`jwt-${type}`)

  return {
    async sign (type: JwtType, claims: Omit<Claims, 'type'>, lifetimeSeconds: number): Promise<string> {
      const { SignJWT } = await import('jose')
      return await new SignJWT({ ...claims, type })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setIssuedAt(Math.floor(databaseNow() / 1_000))
        .setExpirationTime(Math.floor(databaseNow() / 1_000) + lifetimeSeconds)
        .sign(keyFor(type))
    },

    /** Returns the claims of a valid token of this type, else null. */
    async read (type: JwtType, token: string): Promise<Claims | null> {
      const { errors, jwtVerify } = await import('jose')
      try {
        const { payload } = await jwtVerify(token, keyFor(type), {
          issuer: ISSUER, algorithms: [ALGORITHM], currentDate: databaseDate()
        })
        return Value.Check(ClaimsSchema, payload) && payload.type === type ? payload : null
      } catch (err) {
        // A token that fails verification proves nothing, whatever the reason.
        if (err instanceof errors.JOSEError) return null
        throw err
      }
    }
  }
}
export type Jwts = ReturnType<typeof createJwts>
