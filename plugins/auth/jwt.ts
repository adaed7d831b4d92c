import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Secrets } from '../../core/access/secrets.ts'

const ISSUER = 'svc:oauth'
/** RFC 7518 section 3.2. */
const ALGORITHM = 'HS256'

/** What a token is good for; each kind has a key of its own. */
export type JwtType = 'access' | 'refresh' | 'reset' | 'invite'

const ClaimsSchema = Type.Object({
  /** The username. */
  sub: Type.String(),
  type: Type.String(),
  /** Space-separated. */
  scopes: Type.Optional(Type.String()),
  /** Of a token that is good for one use. */
  jti: Type.Optional(Type.String()),
  /** The sign-in it comes from. */
  sid: Type.Optional(Type.String()),
  /** A mark of account and password: it differs once the password was changed, or the name is somebody else's. */
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
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1_000) + lifetimeSeconds)
        .sign(keyFor(type))
    },

    /** The claims of a token of ours of that type that has not run out, else null. */
    async read (type: JwtType, token: string): Promise<Claims | null> {
      const { errors, jwtVerify } = await import('jose')
      try {
        const { payload } = await jwtVerify(token, keyFor(type), { issuer: ISSUER, algorithms: [ALGORITHM] })
        return Value.Check(ClaimsSchema, payload) && payload.type === type ? payload : null
      } catch (err) {
        // Whatever is wrong with it, it proves nothing.
        if (err instanceof errors.JOSEError) return null
        throw err
      }
    }
  }
}
export type Jwts = ReturnType<typeof createJwts>
