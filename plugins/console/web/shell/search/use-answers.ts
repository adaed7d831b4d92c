import { useEffect, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { useCollections, useSmartCollections } from '../../api/collections.ts'
import { usePlatforms } from '../../api/platforms.ts'
import { useResource } from '../../api/resource.ts'
import { isAdministrator } from '../../api/session.ts'
import { format } from '../../i18n/language.ts'
import { addressOfCollection } from '../../pages/collections/collection-card.tsx'
import { NO_EXTRAS } from '../../pages/library/game-pages.ts'
import { nameOf } from '../../ui/cover.tsx'
import { type SearchEntry, findEntries } from './find-entries.ts'

const TYPING_MS = 120
const GAMES = 6

/** Follows a text when its typing pauses. */
function useSettled (text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => { setSettled(text) }, TYPING_MS)
    return () => { clearTimeout(timer) }
  }, [text])
  return settled
}

/**
 * Searches as a person types. A superseded request is cancelled. The games are shown before they are counted, because a
 * large library counts the matches of a common word for longer than it takes to find the first ones.
 */
export function useAnswers (typed: string) {
  const term = useSettled(typed.trim())
  const games = useResource(`search ${term}`, async (signal) => term === ''
    ? []
    : (await call(api.GET('/api/roms', { params: { query: { ...NO_EXTRAS, search_term: term, limit: GAMES } }, signal }))).items)
  const items = games.data.value ?? []
  const countedTerm = items.length < GAMES ? '' : term
  const counted = useResource(`search total ${countedTerm}`, async (signal) => countedTerm === ''
    ? null
    : (await call(api.GET('/api/roms', { params: { query: { ...NO_EXTRAS, search_term: term, limit: 1, with_total: true } }, signal }))).total)
  const users = useResource('users', async (signal) => isAdministrator() ? await call(api.GET('/api/users', { signal })) : [])
  const { data: { value: platforms = [] } } = usePlatforms()
  const { data: { value: plain = [] } } = useCollections()
  const { data: { value: smart = [] } } = useSmartCollections()
  const { number } = format()
  const found = findEntries({
    platforms: platforms.filter(({ rom_count: count }) => count > 0)
      .map(({ slug, display_name: name, rom_count: count }) => ({ slug, name, count: number(count) })),
    collections: [...plain, ...smart].map((one) => ({
      name: one.name, target: addressOfCollection(one), picture: one.path_cover_small ?? one.path_covers_small[0] ?? '', count: number(one.rom_count)
    })),
    users: users.data.value ?? []
  }, term)
  const entries: SearchEntry[] = [
    ...items.map((rom): SearchEntry => ({
      id: `rom-${rom.id}`, group: 'games', label: nameOf(rom), note: rom.platform_display_name, picture: rom.path_cover_small, target: `roms/${rom.id}`
    })),
    ...found
  ]
  const isLoading = games.isLoading.value || term !== typed.trim()
  const total = countedTerm === '' ? items.length : counted.data.value ?? null
  return { term, entries, total, isLoading, failure: games.failure.value }
}
