import t from 'tap'
import { sortCollections } from '../../../plugins/console/web/api/sort-collections.ts'
import { findTrashed } from '../../../plugins/console/web/pages/library/actions/find-trashed.ts'
import { forEachId, splitIds } from '../../../plugins/console/web/pages/library/bulk.ts'
import { findFirst, listYears, thin } from '../../../plugins/console/web/pages/library/jump.ts'
import {
  ALL_GAMES, FLAGS, ID_LISTS, LISTS, type ListView, ORDERS, listFilters, logicsOf, readCriteria, readListView,
  toListQuery, withFlag, withIds, withOrder, withValues, withoutFilters, writeListView
} from '../../../plugins/console/web/pages/library/list-query.ts'
import { createSelection } from '../../../plugins/console/web/pages/library/selection.ts'
import { markOf } from '../../../plugins/console/web/pages/platforms/mark.ts'
import { addRecent, findEntries, rankOf } from '../../../plugins/console/web/shell/search/find-entries.ts'
import { ListRomsQuery } from '../../../plugins/roms/filters/list-query.ts'

const read = (address: string) => readListView(new URLSearchParams(address))

/** A view with every filter. */
const full: ListView = {
  search: 'a & b=c#d',
  order: 'rating',
  isDescending: false,
  flags: Object.fromEntries(FLAGS.map((name, index) => [name, index % 2 === 0])),
  lists: Object.fromEntries(LISTS.map((name) =>
    [name, { values: name === 'dump_statuses' ? ['bad', 'unknown'] : ['one, two', 'ü & <b>'], logic: logicsOf(name).at(-1) ?? 'any' }])),
  ids: { platform_ids: [3, 1], library_ids: [2] },
  changedAfter: '2026-01-02T00:00:00Z',
  isGrouped: true
}

t.test('the address of a list', async (t) => {
  t.equal(writeListView(ALL_GAMES), '', 'is empty without filters')
  t.same(read(''), ALL_GAMES)
  t.same(read(writeListView(full)), full, 'holds every filter')
  for (const order of Object.keys(ORDERS)) {
    for (const isDescending of [true, false]) {
      const view = { ...ALL_GAMES, order, isDescending }
      t.same(read(writeListView(view)), view, `holds the order ${order}`)
    }
  }
  t.same(read('genres=A&genres=B&genres=A&genres=').lists.genres, { values: ['A', 'B'], logic: 'any' }, 'names a value once')
  t.equal(read('genres=A&genres_logic=none').lists.genres?.logic, 'none')
  t.equal(read('player_counts=1&player_counts_logic=all').lists.player_counts?.logic, 'any', 'has only logics that make sense')
  const nonsense = 'favorite=perhaps&platform_ids=x&platform_ids=-1&updated_after=soon&order=%3Cb%3E&nothing=1&dump_statuses=good'
  t.same(read(nonsense), ALL_GAMES, 'ignores values that mean nothing')
  t.equal(read('order=hltb_metadata.main_extra').order, 'hltb_metadata.main_extra', 'may name any other column')
  const usual = { order: 'created_at', isDescending: false }
  t.same(readListView(new URLSearchParams(''), usual), { ...ALL_GAMES, ...usual }, 'leaves out the usual order')
  t.same(readListView(new URLSearchParams(writeListView(ALL_GAMES, usual)), usual), ALL_GAMES)
})

t.test('the request of a list can have every filter of the API', async (t) => {
  const query = toListQuery(full)
  const paging = ['limit', 'offset', 'with_total', 'with_char_index', 'with_filter_values', 'with_filter_counts', 'with_rom_id_index', 'with_files']
  const scopes = ['platform_id', 'collection_id', 'virtual_collection_id', 'smart_collection_id']
  const others = new Set([...paging, ...scopes])
  const names = Object.keys(ListRomsQuery.properties).filter((name) => !others.has(name) && !name.startsWith('selected_'))
  t.same(names.filter((name) => !(name in query)), [])
  t.match(query, { search_term: full.search, order_by: 'rating', order_dir: 'asc', platform_ids: [3, 1] })
  t.same(toListQuery(ALL_GAMES), { order_by: 'name', order_dir: 'asc' })
})

t.test('a smart collection stores a view', async (t) => {
  t.same(readCriteria({ ...toListQuery(full) }), full)
  t.same(readCriteria({ genres: 'Puzzle', order_dir: '', unknown: {} }).lists.genres?.values, ['Puzzle'])
})

t.test('filters are removed one by one', async (t) => {
  const filters = listFilters(full)
  t.equal(filters.length, 3 + FLAGS.length + 2 * LISTS.length + 2)
  for (const { name, without } of filters) t.equal(listFilters(without).length, filters.length - 1, name)
  let view = full
  for (let next = listFilters(view)[0]; next !== undefined; next = listFilters(view)[0]) view = next.without
  t.same(view, withoutFilters(full))
  t.same(withFlag(withFlag(ALL_GAMES, 'missing', true), 'missing', null), ALL_GAMES)
  t.same(withValues(withValues(ALL_GAMES, 'tags', ['A']), 'tags', []), ALL_GAMES)
  for (const name of ID_LISTS) t.same(withIds(withIds(ALL_GAMES, name, [1]), name, []), ALL_GAMES)
  t.match(withOrder(ALL_GAMES, 'created_at'), { order: 'created_at', isDescending: true })
})

t.test('a selection', async (t) => {
  const all = Array.from({ length: 10 }, (_, index) => 100 + index)
  const loads: (() => void)[] = []
  let isSlow = false
  const selection = createSelection(async (from, end) => {
    if (isSlow) await new Promise<void>((resolve) => { loads.push(resolve) })
    return all.slice(from, end)
  })
  const ids = () => [...selection.ids.value].sort((one, other) => one - other)
  selection.toggle(2, 102)
  await selection.extend(4)
  t.same(ids(), [102, 103, 104], 'extends from the last cell')
  await selection.extend(1)
  t.same(ids(), [101, 102], 'turns the range around')
  selection.toggle(9, 109)
  await selection.extend(8)
  t.same(ids(), [101, 102, 108, 109], 'keeps former ranges')
  selection.drop([108, 5])
  t.same(ids(), [101, 102, 109], 'loses deleted ROMs')
  isSlow = true
  const slow = selection.extend(0)
  isSlow = false
  await selection.selectAll(10)
  for (const load of loads) load()
  await slow
  t.same(ids(), all, 'drops the answer to an older request')
  selection.clear()
  t.same(ids(), [])
})

t.test('work on many ROMs continues after failures and reports them', async (t) => {
  const ids = Array.from({ length: 25 }, (_, index) => index)
  let [running, most] = [0, 0]
  const steps: number[] = []
  const { done, failed } = await forEachId(ids, async (id) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    if (id % 10 === 7) throw new Error(`no ${id}`)
  }, (finished) => { steps.push(finished) })
  t.same(done.toSorted((one, other) => one - other), ids.filter((id) => id % 10 !== 7))
  t.same(failed.map(({ reason }) => reason).toSorted(), ['no 17', 'no 7'])
  t.ok(most <= 4)
  t.equal(steps.at(-1), ids.length)
  t.same(splitIds([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
  t.same(splitIds([], 2), [])
})

t.test('the undo of a large deletion finds all of its items in the trash', async (t) => {
  const items = Array.from({ length: 250 }, (_, index) => ({ id: index, kind: index % 10 === 0 ? 'file' : 'rom', rom_id: 1_000 + index }))
  const offsets: number[] = []
  const loadPage = async (offset: number) => {
    offsets.push(offset)
    return { items: items.slice(offset, offset + 100), total: items.length }
  }
  const wanted = [1_001, 1_150, 1_249]
  t.same(await findTrashed(wanted, loadPage), [1, 249])
  t.same(offsets, [0, 100, 200])
  t.same(await findTrashed([1_002], loadPage), [2])
  t.same(offsets, [0, 100, 200, 0], 'nothing is loaded beyond the last item')
})

t.test('the jump bar', async (t) => {
  const years = [1985, 1985, 1990, 1991, 1991, 2003]
  for (const wanted of [1980, 1985, 1986, 1991, 2003, 2010]) {
    const expected = years.findIndex((year) => year >= wanted)
    const found = await findFirst(years.length, async (at) => (years[at] ?? 0) >= wanted)
    t.equal(found, expected === -1 ? years.length : expected, String(wanted))
  }
  t.equal(await findFirst(0, async () => true), 0)
  t.same(listYears(1999, 2002, 20), [1999, 2000, 2001, 2002])
  t.same(listYears(2002, 1999, 20), [2002, 2001, 2000, 1999])
  t.same(listYears(1971, 2026, 20), [1971, 1975, 1980, 1985, 1990, 1995, 2000, 2005, 2010, 2015, 2020, 2025])
  for (const most of [2, 5, 20]) t.ok(listYears(1950, 2030, most).length <= most + 1)
  t.same(thin(['a', 'b', 'c', 'd', 'e'], 3), ['a', 'c', 'e'])
  t.same(thin(['a', 'b'], 3), ['a', 'b'])
})

t.test('the search ranks beginnings first', async (t) => {
  t.equal(rankOf('Super Nintendo', 'super'), 0)
  t.equal(rankOf('Super Nintendo', 'nin'), 1)
  t.equal(rankOf('Super Nintendo', 'tendo sup'), 1)
  t.equal(rankOf('Super Nintendo', 'tendo'), 2)
  t.equal(rankOf('Super Nintendo', 'sega'), null)
  t.equal(rankOf('Super Nintendo', ' '), null)
  const found = findEntries({
    platforms: [{ slug: 'a b', name: 'Mega Drive', count: '3' }],
    collections: [
      { name: 'Not mega', target: 'collections/1', picture: '', count: '1' },
      { name: 'Mega evenings', target: 'collections/2', picture: '', count: '2' }
    ],
    users: [{ id: 1, username: 'megan' }]
  }, 'mega').map(({ group, label, target }) => [group, label, target])
  t.same(found, [
    ['platforms', 'Mega Drive', 'platforms/a%20b'],
    ['collections', 'Mega evenings', 'collections/2'],
    ['collections', 'Not mega', 'collections/1'],
    ['users', 'megan', 'collections?find=megan']
  ])
  t.same(addRecent(['b', 'A'], ' a '), ['a', 'b'])
  t.same(addRecent(['b'], ' '), ['b'])
  t.equal(addRecent(['1', '2', '3', '4', '5', '6'], '7').length, 6)
})

t.test('collections are sorted with favourites first', async (t) => {
  const make = (name: string, updated: string, count: number, isFavorite = false) =>
    ({ name, updated_at: updated, rom_count: count, is_favorite: isFavorite, owner_username: 'anna' })
  const all = [make('b 10', '2026-01-01', 1), make('b 9', '2026-03-01', 5), make('z', '2025-01-01', 2, true)]
  for (const order of ['name', 'updated', 'count'] as const) {
    t.same(sortCollections(all, order).map(({ name }) => name), ['z', 'b 9', 'b 10'], order)
  }
  t.same(sortCollections(all, 'name', ' 10').map(({ name }) => name), ['b 10'])
  t.equal(sortCollections(all, 'name', 'ANNA').length, 3, 'the owner is found too')
})

t.test('a platform has a mark of letters', async (t) => {
  t.equal(markOf('snes', 'Super Nintendo Entertainment System').letters, 'SNES')
  t.equal(markOf('ps2', 'PlayStation 2').letters, 'PS2')
  t.equal(markOf('psx', 'PlayStation').letters, 'PS')
  t.equal(markOf('n64', 'Nintendo 64').letters, 'N64')
  t.equal(markOf('atari2600', 'Atari 2600').letters, 'A2600')
  t.equal(markOf('dos', 'DOS').letters, 'DOS')
  t.equal(markOf('arcade', 'Arcade').letters, 'AR')
  t.equal(markOf('x', '').letters, '')
  t.same(markOf('gba', 'Game Boy Advance'), markOf('gba', 'Game Boy Advance'))
})
