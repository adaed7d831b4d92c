import sparkles from 'lucide/dist/esm/icons/sparkles.mjs'
import { useEffect, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { toFailure } from '../../api/failure.ts'
import { type Events, onEvent } from '../../api/socket.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Cover, nameOf } from '../../ui/cover.tsx'
import { Notice } from '../../ui/state.tsx'
import { IDLE, type ScanState, addGame, begin, count, enterPlatform, fail, finish } from './scan-state.ts'

/** Follows the scan that runs, whoever started it. */
function useScan (): [ScanState, (state: ScanState) => void] {
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
  return [state, setState]
}

function describe ({ phase, platform, stats }: ScanState): string {
  const { setup: { scan } } = texts()
  const { scanned_roms: scanned = 0, total_roms: total = 0, identified_roms: identified = 0 } = stats ?? {}
  if (phase === 'done') return scan.done(scanned, identified)
  if (phase === 'running') return platform === '' ? scan.starting : scan.running(platform, scanned, total)
  return scan.ready
}

function FoundGame ({ game }: { game: Events['scan:scanning_rom'] }) {
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
      await call(api.POST('/api/tasks/scan', { body: { type: 'quick' } }))
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
