import type { FilterQuery } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { isAdministrator } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { deleteRow } from '../../core/database/delete-row.ts'
import { badRequest, forbidden, notFound } from '../../core/errors.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { lockSignedIn } from '../auth/lock-sign-in.ts'
import { User } from '../users/entities.ts'
import type { Actor } from './actor.ts'
import { lockToken } from './rows.ts'
import { ClientToken } from './entities.ts'
import { expiryOf, createRawToken } from './raw-token.ts'
import type { CreateToken } from './schemas.ts'

const TOKENS_MAX = 25
const NEWEST_FIRST = { created_at: 'desc', id: 'desc' } as const

/** A row with the token's text, which is never stored. */
export interface RawToken { token: ClientToken, raw: string }

async function find (db: Db, where: FilterQuery<ClientToken>, id: number): Promise<ClientToken> {
  const token = await db.em.findOne(ClientToken, where, { populate: ['device'] })
  if (token === null) throw notFound(`Client token with ID '${id}' not found`)
  return token
}

const findOwn = ({ db, caller }: Context, id: number) => find(db, { id, user: caller.id }, id)

/** Returns a token of the caller, and locks it until the transaction ends. */
async function lockOwn (context: Context, id: number): Promise<ClientToken> {
  const { db: tx, caller } = context
  await lockSignedIn(tx, caller)
  await lockToken(tx, id)
  return await findOwn(context, id)
}

type TokenEvent = 'token.created' | 'token.revoked' | 'token.regenerated'

async function record (app: FastifyInstance, event: TokenEvent, by: Actor, token: ClientToken) {
  const details = { token_id: token.id, token_name: token.name, owner_id: token.user.id }
  await app.audit.record({ event, user: by.caller, address: by.address, details })
}

/** Sets a new secret. Connections that were opened with the old one end. */
async function renew (config: Config, db: Db, token: ClientToken): Promise<RawToken> {
  const raw = createRawToken(config)
  token.token_hash = sha256(raw)
  token.last_used_at = null
  await db.em.flush()
  return { token, raw }
}

/** @throws ApiError NOT_FOUND if another request deleted the token first */
async function revoke (app: FastifyInstance, db: Db, by: Actor, token: ClientToken): Promise<void> {
  await inTransaction(db, async (tx) => { await deleteRow(tx, ClientToken, token.id, `Client token '${token.name}'`) })
  await app.sockets.end({ kind: 'token', id: token.id })
  await record(app, 'token.revoked', by, token)
}

/** Creates the service of client tokens. */
export function createTokens (app: FastifyInstance, config: Config) {
  return {
    lockOwn,
    renew: (db: Db, token: ClientToken) => renew(config, db, token),

    list: ({ db, caller }: Context) =>
      db.em.find(ClientToken, { user: caller.id }, { orderBy: NEWEST_FIRST, populate: ['device'] }),

    /** Lists the tokens of all users. */
    listAll: (db: Db) => db.em.find(ClientToken, {}, { orderBy: NEWEST_FIRST, populate: ['device', 'user'] }),

    /**
     * @throws ApiError FORBIDDEN for scopes the caller lacks, BAD_REQUEST if the caller has the maximum number of
     * tokens.
     */
    async create (db: Db, by: Actor, input: CreateToken): Promise<RawToken> {
      const { id, scopes } = by.caller
      const missing = input.scopes.filter((scope) => !scopes.has(scope))
      if (missing.length > 0) throw forbidden(`You do not have the scopes: ${missing.join(', ')}; request fewer scopes`)
      const raw = createRawToken(config)
      const token = await inTransaction(db, async (tx) => {
        await lockSignedIn(tx, by.caller)
        if (await tx.em.count(ClientToken, { user: id }) >= TOKENS_MAX) {
          throw badRequest(`You have ${TOKENS_MAX} tokens already; delete one first`)
        }
        return tx.em.create(ClientToken, {
          user: tx.em.getReference(User, id),
          name: input.name.toWellFormed(),
          token_hash: sha256(raw),
          scopes: [...new Set(input.scopes)],
          expires_at: expiryOf(input.expires_in)
        })
      })
      await record(app, 'token.created', by, token)
      return { token, raw }
    },

    /** Sets a new secret on the same row. The old secret stops working at once. */
    async regenerate (db: Db, by: Actor, id: number): Promise<RawToken> {
      const renewed = await inTransaction(db, async (tx) =>
        await renew(config, tx, await lockOwn({ db: tx, caller: by.caller }, id)))
      await app.sockets.end({ kind: 'token', id })
      await record(app, 'token.regenerated', by, renewed.token)
      return renewed
    },

    /** @throws ApiError NOT_FOUND, or FORBIDDEN for a token that may only revoke itself. */
    async delete (db: Db, by: Actor, id: number): Promise<void> {
      const { scopes, token_id: ownTokenId } = by.caller
      if (!scopes.has('me.write') && ownTokenId !== id) {
        throw forbidden('A token without the scope me.write may revoke only itself; use a token with that scope', {
          missingScopes: ['me.write']
        })
      }
      await revoke(app, db, by, await findOwn({ db, caller: by.caller }, id))
    },

    /**
     * Deletes a token of any user. @throws ApiError NOT_FOUND, or FORBIDDEN for an administrator's unless the caller is
     * one.
     */
    async deleteAny (db: Db, by: Actor, id: number): Promise<void> {
      const token = await find(db, { id }, id)
      const { role } = await db.em.findOneOrFail(User, token.user.id)
      if (role === 'admin' && !isAdministrator(by.caller)) {
        throw forbidden("Only an administrator may revoke an administrator's token")
      }
      await revoke(app, db, by, token)
    }
  }
}
export type Tokens = ReturnType<typeof createTokens>
