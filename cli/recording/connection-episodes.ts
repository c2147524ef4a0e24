/** Which episode a request belongs to where every connection is one. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** An episode whose last call failed outlives its connection for so long: a client may repeat the call over another. */
const LINGER_MILLISECONDS = 60_000;
/** Requests whose episode is remembered. */
const MOST_REMEMBERED = 10_000;

export interface EpisodesOptions {
  /** Opens an episode; gives its address and what to do when it is over. */
  open(): { baseUrl: string; ended(): void };
  /** Told once for each kind of client, when two connections of one kind, perhaps of one client, are open at a time. */
  onSeveral(agent: string): void;
}

export class DoorEpisode {
  readonly baseUrl: string;
  readonly sockets = new Set<Socket>();
  over = false;
  private inFlight = 0;
  /** The last call that ended failed, and was not repeated so far. */
  private failed = false;
  private readonly ended: () => void;
  private linger: NodeJS.Timeout | undefined;

  constructor({ baseUrl, ended }: { baseUrl: string; ended(): void }) {
    this.baseUrl = baseUrl;
    this.ended = ended;
  }

  /** A call begins. `over` counts once: with true when its client has got a reply that is no error. */
  begin(): { over(well: boolean): void } {
    this.inFlight++;
    let told = false;
    return {
      over: (well) => {
        if (told) return;
        told = true;
        this.inFlight--;
        this.failed = !well;
        if (well && this.sockets.size === 0 && this.inFlight === 0) this.end();
      },
    };
  }

  join(socket: Socket): void {
    clearTimeout(this.linger);
    this.sockets.add(socket);
    socket.once('close', () => {
      this.sockets.delete(socket);
      if (this.sockets.size > 0) return;
      // The socket closes before its last call is told to be over.
      if (this.inFlight === 0 && !this.failed) this.end();
      else this.linger = setTimeout(() => this.end(), LINGER_MILLISECONDS).unref();
    });
  }

  end(): void {
    clearTimeout(this.linger);
    if (this.over) return;
    this.over = true;
    this.ended();
  }
}

export class ConnectionEpisodes {
  readonly #options: EpisodesOptions;
  readonly #bySocket = new WeakMap<Socket, DoorEpisode>();
  /** By idempotency key and body, and by body alone; the oldest go first. */
  readonly #byRequest = new Map<string, DoorEpisode>();
  readonly #all = new Set<DoorEpisode>();
  readonly #agents = new WeakMap<DoorEpisode, string>();
  readonly #told = new Set<string>();

  constructor(options: EpisodesOptions) {
    this.#options = options;
  }

  /**
   * @param bodyHash of the request's path and body.
   * @returns the episode of the first try where the client marks the request as a repeat, else the connection's own.
   */
  of(socket: Socket, headers: IncomingHttpHeaders, bodyHash: string): DoorEpisode {
    const key = headers['idempotency-key'];
    const byKey = key === undefined ? undefined : `${key} ${bodyHash}`;
    const repeats = Number(headers['x-stainless-retry-count'] ?? 0) > 0;
    let first = byKey === undefined ? undefined : this.#byRequest.get(byKey);
    if (first === undefined && repeats) first = this.#byRequest.get(bodyHash);
    let own = this.#bySocket.get(socket);
    if (own === undefined) {
      // A repeat that comes over a new connection brings it into the episode.
      own = first?.over === false ? first : this.#open(headers['user-agent'] ?? '');
      this.#bySocket.set(socket, own);
      own.join(socket);
    }
    const episode = first?.over === false ? first : own;
    this.#remember(bodyHash, episode);
    if (byKey !== undefined) this.#remember(byKey, episode);
    return episode;
  }

  /** Ends all that are open. */
  end(): void {
    for (const episode of this.#all) episode.end();
  }

  #open(agent: string): DoorEpisode {
    for (const other of this.#all) {
      if (other.over) this.#all.delete(other);
      else if (other.sockets.size > 0 && this.#agents.get(other) === agent && !this.#told.has(agent)) {
        this.#told.add(agent);
        this.#options.onSeveral(agent);
      }
    }
    const episode = new DoorEpisode(this.#options.open());
    this.#agents.set(episode, agent);
    this.#all.add(episode);
    return episode;
  }

  #remember(request: string, episode: DoorEpisode): void {
    this.#byRequest.delete(request);
    this.#byRequest.set(request, episode);
    for (const oldest of this.#byRequest.keys()) {
      if (this.#byRequest.size <= MOST_REMEMBERED) break;
      this.#byRequest.delete(oldest);
    }
  }
}
