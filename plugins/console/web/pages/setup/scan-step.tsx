import sparkles from 'lucide/dist/esm/icons/sparkles.mjs'
import { useEffect, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { toFailure } from '../../api/failure.ts'
import { cache, useResource } from '../../api/resource.ts'
import { onEvent } from '../../api/socket.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Cover, nameOf } from '../../ui/cover.tsx'
import { Notice } from '../../ui/state.tsx'
import {
  IDLE, SHOWN_MAX, type ScanState, type StoredScan, addGame, begin, catchUp, count, enterPlatform, fail, findScan,
  finish, readScan
} from './scan-state.ts'

/** The most problems that the page lists; the log of the server has all of them. */
const PROBLEMS_MAX = 5
const SCAN = 'newest-scan'
const NEWEST = {
  order_by: 'created_at', order_dir: 'desc', limit: SHOWN_MAX,
  with_total: false, with_char_index: false, with_filter_values: false, with_rom_id_index: false
} as const

/** Loads the newest scan and the games that were added since its start. */
async function loadScan (signal: AbortSignal): Promise<StoredScan> {
  const task = findScan(await call(api.GET('/api/tasks/status', { signal })))
  if (task === undefined) return { scan: IDLE, games: [] }
  const start = Date.parse(task.started_at ?? '')
  const { items } = await call(api.GET('/api/roms', { params: { query: NEWEST }, signal }))
  return { scan: readScan(task), games: items.filter(({ created_at: created }) => Date.parse(created) >= start) }
}

/** Follows the scan that runs, whoever started it. */
function useScan () {
  const [state, setState] = useState(IDLE)
  useEffect(() => {
    const stops = [
      onEvent('scan:scanning_platform', ({ display_name: name }) => { setState((former) => enterPlatform(former, name)) }),
      onEvent('scan:scanning_rom', (game) => { setState((former) => addGame(former, game)) }),
      onEvent('scan:update_stats', (stats) => { setState((former) => count(former, stats)) }),
      onEvent('scan:done', (stats) => { setState((former) => finish(former, stats)) }),
      onEvent('scan:done_ko', (reason) => { setState((former) => fail(former, reason)) })
    ]
    return () => { for (const stop of stops) stop() }
  }, [])
  const { data: { value: stored } } = useResource(SCAN, loadScan, { 'scan:done': true })
  useEffect(() => {
    if (stored !== undefined) setState((former) => catchUp(former, stored))
  }, [stored])
  return [state, setState] as const
}

function describe ({ phase, platform, stats }: ScanState): string {
  const { setup: { scan } } = texts()
  const { scanned_roms: scanned = 0, total_roms: total = 0, identified_roms: identified = 0, new_roms: added = 0 } =
    stats ?? {}
  if (phase === 'done' && total === 0) return scan.nothing
  // A quick scan only identifies new games.
  if (phase === 'done') return added === 0 && identified === 0 ? scan.nothingNew(scanned) : scan.done(scanned, identified)
  if (phase === 'running') return platform === '' ? scan.starting : scan.running(platform, scanned, total)
  return scan.ready
}

/** Says after a scan why games may be missing or have no cover. */
function Problems ({ state: { problems: { count: total, reasons } } }: { state: ScanState }) {
  const { setup: { scan } } = texts()
  if (total === 0) return null
  const shown = reasons.slice(0, PROBLEMS_MAX)
  return (
    <Notice kind='warning'>
      {scan.problems(total)}
      <ul class='scan-problems'>{shown.map((reason) => <li key={reason}>{reason}</li>)}</ul>
      {total > shown.length && scan.moreProblems(total - shown.length)}
    </Notice>
  )
}

/** Leads to more providers if none recognised a game. */
function Unrecognised ({ state: { stats } }: { state: ScanState }) {
  const { setup: { scan, steps } } = texts()
  if (stats === null || stats.new_roms === 0 || stats.identified_roms > 0) return null
  return <Notice>{scan.unrecognised} <a href='setup/providers'>{steps.providers}</a></Notice>
}

function FoundGame ({ game }: { game: ScanState['games'][number] }) {
  return (
    <li>
      <a class='game' href={`roms/${game.id}`}>
        <Cover rom={{ ...game, sibling_roms: [] }} />
        <span class='game-name'>{nameOf(game)}</span>
        <span class='game-note'>{game.platform_display_name}</span>
      </a>
    </li>
  )
}

function Progress ({ state: { stats } }: { state: ScanState }) {
  const { scanned_roms: scanned = 0, total_roms: total = 0 } = stats ?? {}
  const value = total === 0 ? undefined : Math.min(1, scanned / total)
  return <progress class='progress' aria-label={texts().setup.steps.scan} max={1} value={value} aria-valuetext={value === undefined ? undefined : format().percent(value)} />
}

/** The first scan: covers appear as they are found. */
export function ScanStep () {
  const { setup: { scan, toLibrary } } = texts()
  const [state, setState] = useScan()
  const [isStarting, setStarting] = useState(false)
  async function start (): Promise<void> {
    setStarting(true)
    setState(begin())
    try {
      const { task_id: id } = await call(api.POST('/api/tasks/scan', { body: { type: 'quick' } }))
      setState((former) => ({ ...former, id }))
      cache.invalidate(SCAN)
    } catch (err) {
      setState(fail(IDLE, toFailure(err).message))
    }
    setStarting(false)
  }
  const isRunning = state.phase === 'running'
  return (
    <>
      <div>
        <h1>{scan.title}</h1>
        <p class='soft setup-lead'>{scan.text}</p>
      </div>
      <section class='card panel'>
        <p role='status' aria-live='polite' class='scan-words'>{describe(state)}</p>
        {isRunning && <Progress state={state} />}
        {state.phase === 'done' && <Problems state={state} />}
        {state.phase === 'done' && <Unrecognised state={state} />}
        {state.phase === 'failed' && <Notice kind='failure'>{state.failure}</Notice>}
        <div class='cluster'>
          {state.phase === 'done' && <LinkButton kind='primary' href='roms'>{toLibrary}</LinkButton>}
          <Button kind={state.phase === 'done' ? undefined : 'primary'} icon={sparkles} isBusy={isStarting || isRunning} onClick={() => { void start() }}>
            {state.phase === 'idle' ? scan.start : isRunning ? scan.busy : scan.again}
          </Button>
        </div>
      </section>
      {state.games.length > 0 && <ul class='found'>{state.games.map((game) => <FoundGame key={game.id} game={game} />)}</ul>}
    </>
  )
}
