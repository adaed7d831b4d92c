import { UniqueConstraintViolationException } from '@mikro-orm/core'
import type { Context } from '../../core/access/context.ts'
import { conflict, forbidden, invalid, notFound } from '../../core/errors.ts'
import { type AnyCaller, readsPublic } from '../platforms/visibility.ts'
import { type Kind, findOwner } from './rows.ts'

export const unknownCollection = (id: number | string) => notFound(`Collection with id '${id}' not found`)
const refused = (id: number) => forbidden(`Permission denied for collection with id '${id}'`)

const isOpenTo = (caller: AnyCaller, { is_public: isPublic }: { is_public: boolean }): boolean =>
  isPublic && readsPublic(caller, 'collections')

/** @throws ApiError NOT_FOUND, also for a private collection of another user */
export async function requireReadable ({ db, caller }: Context<AnyCaller>, kind: Kind, id: number): Promise<void> {
  const owner = await findOwner(db, kind, id)
  if (owner === null || (owner.user_id !== caller?.id && !isOpenTo(caller, owner))) throw unknownCollection(id)
}

/** @throws ApiError NOT_FOUND, or FORBIDDEN for a public one of another user, for administrators too */
export async function requireOwn (
  { db, caller }: Context, kind: Kind, id: number
): Promise<{ is_public: boolean }> {
  const owner = await findOwner(db, kind, id)
  if (owner?.user_id === caller.id) return owner
  throw owner !== null && isOpenTo(caller, owner) ? refused(id) : unknownCollection(id)
}

/** @throws ApiError INVALID for a blank name */
export function checkName (name: string | undefined): string {
  if (name === undefined || name.trim() === '') throw invalid(['body', 'name'], 'must not be empty', name)
  return name
}

/**
 * Runs work that stores a name.
 *
 * @throws ApiError CONFLICT if another collection of the user has the name
 */
export async function withName<T> (name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    if (err instanceof UniqueConstraintViolationException) throw conflict(`Collection with name '${name}' already exists`)
    throw err
  }
}
