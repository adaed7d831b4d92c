import gamepad from 'lucide/dist/esm/icons/gamepad-2.mjs'
import sparkles from 'lucide/dist/esm/icons/sparkles.mjs'
import search from 'lucide/dist/esm/icons/search.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Collection } from '../../api/collections.ts'
import { holds } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useMedia } from '../../ui/media.ts'
import { Empty } from '../../ui/state.tsx'
import { SmartDialog } from './smart-dialog.tsx'
import { Chips } from './chips.tsx'
import { FilterPanel } from './filter-panel.tsx'
import { Games } from './games.tsx'
import { ListTools } from './list-tools.tsx'
import {
  ALL_GAMES, type ListQuery, type ListView, type UsualOrder, isMarkOrder, listFilters, readListView, toListQuery,
  withIds, withOrder, withoutFilters, writeListView
} from './list-query.ts'

interface GameListProps {
  title: string
  /** The part of the library that is listed. */
  scope: ListQuery
  collection?: Collection | undefined
  /** Buttons and texts of the head. */
  head?: ComponentChildren
  /** Shown if the scope has no ROM at all. */
  empty?: ComponentChildren
  /** The order if the address names none. */
  usual?: UsualOrder
}

/** The filters beside a list. They get the focus when they open, and give it back to their button. */
function Filters ({ onClose, children }: { onClose: () => void, children: ComponentChildren }) {
  const { common, list } = texts()
  const box = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const { activeElement: opener } = document
    box.current?.focus({ preventScroll: true })
    return () => {
      const hasFocus = box.current?.contains(document.activeElement) === true
      if (hasFocus && opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <aside
      ref={box} class='filters' aria-label={list.filters} tabIndex={-1}
      onKeyDown={({ key }) => { if (key === 'Escape') onClose() }}
    >
      <div class='filters-head'><h2>{list.filters}</h2><IconButton isSmall icon={x} label={common.close} onClick={onClose} /></div>
      {children}
    </aside>
  )
}

/** A page with a list of ROMs: head, tools, filters, and the ROMs themselves. The address holds everything chosen. */
export function GameList ({ title, scope, collection, head, empty, usual = ALL_GAMES }: GameListProps) {
  const { common, list } = texts()
  const { path, params, go } = useView()
  const [isOpen, setOpen] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [count, setCount] = useState<number | null>(null)
  const isWide = useMedia('(min-width: 60rem)')
  const view = readListView(params, usual)
  const query = { ...toListQuery(view), ...scope }
  const change = (next: ListView) => { go(`${path}${writeListView(next, usual)}`, true) }
  const clear = () => { change({ ...withoutFilters(view), search: '' }) }
  const isNarrowed = view.search !== '' || listFilters(view).length > 0
  const isMarked = isMarkOrder(view.order)
  const maySave = holds('collections.write') && isNarrowed
  const filters = <FilterPanel view={view} onChange={change} scope={scope} />
  const save = maySave && <Button isSmall kind='quiet' icon={sparkles} onClick={() => { setSaving(true) }}>{list.saveFilter}</Button>
  return (
    <div class='library'>
      <div class='library-head'>
        <div class='library-title'>
          <h1>{title}</h1>
          <span class='faint number' role='status'>{count === null ? '' : common.games(count)}</span>
          {head}
        </div>
        <ListTools view={view} onChange={change} areFiltersOpen={isOpen} onFilters={() => { setOpen(!isOpen) }} />
        <Chips view={view} onChange={change} />
        {isMarked && count !== 0 && <p class='faint'>{list.onlyMarked}</p>}
      </div>
      <div class='library-body'>
        <div class='library-games'>
          <Games
            label={title} query={query} collection={collection} onCount={setCount} key={JSON.stringify(scope)}
            empty={isNarrowed
              ? (
                <Empty icon={search} title={list.none.title} text={list.none.filtered}>
                  <Button onClick={clear}>{list.none.action}</Button>
                </Empty>
                )
              : isMarked
                ? (
                  <Empty icon={gamepad} title={list.none.title} text={list.none.unmarked}>
                    <Button onClick={() => { change(withOrder(view, ALL_GAMES.order)) }}>{list.none.byName}</Button>
                  </Empty>
                  )
                : empty ?? <Empty icon={gamepad} title={list.none.title} text={list.none.empty} />}
          />
        </div>
        {isOpen && isWide && (
          <Filters onClose={() => { setOpen(false) }}>
            {filters}
            {save}
          </Filters>
        )}
      </div>
      {!isWide && (
        <Dialog
          title={list.filters} isOpen={isOpen} onClose={() => { setOpen(false) }}
          foot={(
            <>
              {isNarrowed && <Button kind='quiet' onClick={clear}>{list.clear}</Button>}
              <Button kind='primary' onClick={() => { setOpen(false) }}>{list.show(count ?? 0)}</Button>
            </>
          )}
        >
          {filters}
          {save}
        </Dialog>
      )}
      {isSaving && (
        <SmartDialog view={scope.platform_ids === undefined ? view : withIds(view, 'platform_ids', scope.platform_ids)} onClose={() => { setSaving(false) }} />
      )}
    </div>
  )
}
