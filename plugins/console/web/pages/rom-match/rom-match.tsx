import arrow from 'lucide/dist/esm/icons/arrow-left.mjs'
import search from 'lucide/dist/esm/icons/search.mjs'
import { useEffect, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Failure, isCancelled, toFailure } from '../../api/failure.ts'
import { holds, isAdministrator } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle, useView } from '../../navigate.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Cover, nameOf } from '../../ui/cover.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Empty, Failed, Notice, Skeleton } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { Forbidden } from '../errors/errors.tsx'
import { NoSuchRom, isNoSuchRom } from '../rom/rom.tsx'
import { type DetailedRom, showRom, useRom } from '../rom/rom-data.ts'
import { type Candidate, type SearchedGame, listCandidates } from './candidates.ts'
import { CandidateCard } from './candidate-card.tsx'
import { CurrentMatches } from './current-matches.tsx'
import { SearchFailure } from './search-failure.tsx'
import { type Skipped, describeSkipped, readSkipped } from './skipped.ts'

type By = 'name' | 'id'
interface Question {
  term: string
  by: By
}
interface Answer {
  games: readonly SearchedGame[]
  skipped: readonly Skipped[]
}

async function searchGames (romId: number, { term, by }: Question, signal: AbortSignal): Promise<Answer> {
  let skipped: Answer['skipped'] = []
  const games = await call(
    api
      .GET('/api/search/roms', { params: { query: { rom_id: romId, search_term: term, search_by: by } }, signal })
      .then((answer) => {
        skipped = readSkipped(answer.response.headers.get('x-left-out'))
        return answer
      })
  )
  return { games, skipped }
}

/** Asks all providers each time the question changes. */
function useSearch (romId: number, question: Question) {
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    setAnswer(null)
    setFailure(null)
    searchGames(romId, question, controller.signal)
      .then(setAnswer)
      .catch((err: unknown) => { if (!isCancelled(err)) setFailure(toFailure(err)) })
    return () => { controller.abort() }
  }, [question])
  return { answer, failure }
}

const Waiting = () => (
  <ul class='candidates' aria-hidden>
    {Array.from({ length: 4 }, (_, index) => (
      <li key={index} class='candidate'>
        <Skeleton height='9rem' />
      </li>
    ))}
  </ul>
)

/** The reason why providers gave no answer, with the way to the platform of a folder if they do not know it. */
function SkippedNotice ({ skipped }: { skipped: Skipped }) {
  const { match: words } = texts().rom
  const isFolder = skipped.code === 'unknown_platform' && isAdministrator()
  return (
    <Notice kind='warning'>
      {words.skipped(skipped.providers.join(', '), describeSkipped(skipped, words))}
      {isFolder && <> <a href='setup'>{words.choosePlatform}</a></>}
    </Notice>
  )
}

/** The games that providers offer. */
function Results ({
  rom,
  question,
  onChoose
}: {
  rom: DetailedRom
  question: Question
  onChoose: (candidate: Candidate) => Promise<void>
}) {
  const { match: words } = texts().rom
  const { answer, failure } = useSearch(rom.id, question)
  const [busy, setBusy] = useState<string | null>(null)
  const candidates = answer === null ? [] : listCandidates(answer.games)
  const choose = (candidate: Candidate) => {
    setBusy(candidate.name)
    onChoose(candidate)
      .catch(tellFailure)
      .finally(() => { setBusy(null) })
  }
  return (
    <>
      <h2 class='visually-hidden'>{words.results}</h2>
      <p class='faint' role='status'>
        {answer === null ? failure === null && words.searching : words.found(candidates.length)}
      </p>
      {answer?.skipped.map((one) => <SkippedNotice key={one.reason} skipped={one} />)}
      {failure !== null && <SearchFailure failure={failure} />}
      {answer === null && failure === null && <Waiting />}
      {answer !== null && candidates.length === 0 && (
        <Empty icon={search} title={words.none.title} text={words.none.text} />
      )}
      <ul class='candidates'>
        {candidates.map((candidate) => (
          <CandidateCard
            key={candidate.name}
            candidate={candidate}
            rom={rom}
            isBusy={busy === candidate.name}
            onChoose={() => { choose(candidate) }}
          />
        ))}
      </ul>
    </>
  )
}

function Matcher ({ rom }: { rom: DetailedRom }) {
  const { match: words } = texts().rom
  const { go } = useView()
  const [term, setTerm] = useState(rom.fs_name_no_tags)
  const [by, setBy] = useState<By>('name')
  const [question, setQuestion] = useState<Question>({ term, by })

  async function choose ({ name, ids }: Candidate): Promise<void> {
    const body = Object.fromEntries(ids.map(({ provider, id }) => [`${provider}_id`, id]))
    showRom(await call(api.PUT('/api/roms/{id}', { params: { path: { id: rom.id } }, body })))
    tellSuccess(words.matched(name))
    go(`roms/${rom.id}`)
  }
  return (
    <div class='match'>
      <aside class='match-now'>
        <Cover rom={{ ...rom, sibling_roms: [], missing_from_fs: false }} isLarge />
        <p class='match-file'>{rom.fs_name}</p>
      </aside>
      <div class='rom-overview'>
        <CurrentMatches rom={rom} />
        <section class='rom-section'>
          <form
            class='search-line'
            onSubmit={(event) => {
              event.preventDefault()
              setQuestion({ term: term.trim(), by })
            }}
          >
            <TextField label={words.term} type='search' value={term} onInput={setTerm} />
            <Select label={words.by} value={by} options={words.byOptions} onChange={setBy} />
            <Button kind='primary' type='submit' icon={search}>{words.search}</Button>
          </form>
          <Results rom={rom} question={question} onChoose={choose} />
        </section>
      </div>
    </div>
  )
}

/** Finds the game that a file is, at all providers at once. */
export default function RomMatch ({ id }: { id: string }) {
  const { edit, match: words } = texts().rom
  const { data: { value: rom }, failure: { value: failure } } = useRom(id)
  useTitle(rom === undefined ? undefined : words.title(nameOf(rom)))
  if (!holds('roms.write')) return <Forbidden />
  if (isNoSuchRom(failure)) return <NoSuchRom />
  if (failure !== null && rom === undefined) return <Failed failure={failure} />
  return (
    <div class='rom-form'>
      <div class='page-head'>
        <div>
          <h1>{rom === undefined ? <Skeleton width='16rem' /> : words.title(nameOf(rom))}</h1>
          <p class='soft'>{words.hint}</p>
        </div>
        <LinkButton kind='quiet' icon={arrow} href={`roms/${id}`}>{edit.back}</LinkButton>
      </div>
      {rom === undefined ? <Skeleton height='30rem' /> : <Matcher rom={rom} key={rom.id} />}
    </div>
  )
}
