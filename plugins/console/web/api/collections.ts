import { texts } from '../i18n/language.ts'
import { api, call } from './client.ts'
import { cache, useResource } from './resource.ts'
import type { components } from './schema.d.ts'
import { accountOf } from './session.ts'

export type Collection = components['schemas']['Collection']
export type SmartCollection = components['schemas']['SmartCollection']
export type VirtualCollection = components['schemas']['VirtualCollection']

/** The plain collections that the account sees, its own and public ones. */
export const useCollections = () => useResource('collections', (signal) => call(api.GET('/api/collections', { signal })), {
  'collections:changed': ({ kind }) => kind === 'plain', 'roms:deleted': true, 'permissions:changed': true
})

/** The smart collections that the account sees, its own and public ones. */
export const useSmartCollections = () => useResource('smart-collections', (signal) => call(api.GET('/api/collections/smart', { signal })), {
  'collections:changed': ({ kind }) => kind === 'smart', 'scan:done': true, 'permissions:changed': true
})

export const isOwn = ({ user_id: owner }: { user_id: number }): boolean => owner === accountOf()?.id

/** Returns the account's list of favourites; undefined before its first favourite. */
export const findFavorites = (all: readonly Collection[]): Collection | undefined =>
  all.find((one) => one.is_favorite && isOwn(one))

/** Returns the ids of all favourites of the account. */
export function useFavoriteIds (): ReadonlySet<number> {
  const { data: { value: all = [] } } = useCollections()
  return new Set(all.filter((one) => one.is_favorite && isOwn(one)).flatMap(({ rom_ids: ids }) => ids))
}

const showChange = (changed: Collection): void => {
  cache.set<Collection[]>('collections', (all) => all?.map((one) => one.id === changed.id ? changed : one))
}

export async function addToCollection (id: number, ids: readonly number[]): Promise<void> {
  showChange(await call(api.POST('/api/collections/{id}/roms', { params: { path: { id } }, body: { rom_ids: [...ids] } })))
}

export async function removeFromCollection (id: number, ids: readonly number[]): Promise<void> {
  showChange(await call(api.DELETE('/api/collections/{id}/roms', { params: { path: { id } }, body: { rom_ids: [...ids] } })))
}

type FormFields = Readonly<Record<string, string | Blob | undefined>>

/** Returns a form that the server reads as one with files. */
function formOf (fields: FormFields): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, value)
  return form
}

/** The fields of a collection's form; an absent one stays as it is. */
export interface CollectionFields {
  name?: string
  description?: string
  rom_ids?: string
  filter_criteria?: string
  artwork?: Blob
}

/** Sends a form in place of the object that the types describe. */
export const asForm = { bodySerializer: (fields: object) => formOf(fields as FormFields) }

/** What a person enters about any collection. */
export interface Entered { name: string, description: string, isPublic: boolean }

/** Returns what a person changed, because another browser of the account may have changed everything else meanwhile. */
export const findChanges = (former: Entered, { name, description, isPublic }: Entered) => ({
  body: {
    ...(name === former.name ? {} : { name: name.trim() }),
    ...(description === former.description ? {} : { description })
  },
  query: isPublic === former.isPublic ? {} : { is_public: isPublic }
})

interface Kind { is_public?: boolean, is_favorite?: boolean }

export async function createCollection (fields: CollectionFields, query: Kind = {}): Promise<Collection> {
  const created = await call(api.POST('/api/collections', { params: { query }, body: fields, ...asForm }))
  cache.set<Collection[]>('collections', (all) => all && [...all.filter(({ id }) => id !== created.id), created])
  return created
}

/** Loads the account's list of favourites, and creates it before its first favourite. */
export async function loadFavorites (): Promise<Collection> {
  const known = findFavorites(await call(api.GET('/api/collections')))
  return known ?? await createCollection({ name: texts().list.selection.favoritesName }, { is_favorite: true })
}
