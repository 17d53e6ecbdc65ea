"""The process that runs litellm (`python -m roamtui.models.litellm_worker`), with frames over stdio.

It ends as soon as its standard input ends, even during a request: nobody is left to read the reply.
"""

import asyncio
import importlib
import json
import os
import sys
import threading
from collections.abc import AsyncGenerator, Mapping, MutableMapping
from contextlib import aclosing, suppress
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

from roamtui.models.base import ModelFacts
from roamtui.models.completion import compute_vectors, stream_completion
from roamtui.models.failures import to_failure
from roamtui.models.http_clients import ReceivedReply, current_reply, restrict_clients
from roamtui.models.local_servers import (
    ASSUMED_WINDOW_TOKENS,
    OLLAMA_WINDOW_TOKENS,
    complete_url,
    fetch_model_facts,
    get_server,
    is_loopback,
)
from roamtui.models.options import ModelOptions
from roamtui.models.providers import PROVIDERS, get_key_variable
from roamtui.models.redaction import list_keys, mask_keys, redact_secrets, strip_keys
from roamtui.models.worker_protocol import Frame, Job, JobEvent, ModelFailure, ResolvedModel, encode_frame
from roamtui.paths import write_all
from roamtui.sanitiser import sanitise_line
from roamtui.text import shorten

_LITELLM_VARIABLES = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_MODE": "PRODUCTION",
    "REPEATED_STREAMING_CHUNK_LIMIT": str(sys.maxsize),
}
"""Without these, litellm fetches lists from the network, reads `.env` in the working directory, and reports
repetitions in a reply as an error of the server. `read_reply` notices them."""
_BASE_URL_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
}
_MODEL_EXAMPLES = "openai/gpt-4.1-mini, or offline"
_EMBEDDER_EXAMPLES = "ollama/snowflake-arctic-embed2, or a folder"


class LitellmWorker:
    """Runs the jobs that arrive at `jobs_input`, several at once. Sends events to `events_output`."""

    def __init__(self, jobs_input: BinaryIO, events_output: int, environ: Mapping[str, str]) -> None:
        self._jobs_input = jobs_input
        self._events_output = events_output
        self._environ = environ
        self._keys = list_keys(environ)
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Run jobs until the input ends, which ends the process."""
        loop = asyncio.get_running_loop()
        loading = asyncio.ensure_future(asyncio.to_thread(_load_litellm))

        def handle_frame(frame: Frame) -> None:
            number = frame["id"]
            if frame["job"] is not None:
                task = asyncio.create_task(self._work(number, msgspec.convert(frame["job"], Job), loading))
                self._tasks[number] = task
                task.add_done_callback(lambda _: self._tasks.pop(number))
            elif number in self._tasks:
                self._tasks[number].cancel()

        def read() -> None:
            try:
                for line in self._jobs_input:
                    loop.call_soon_threadsafe(handle_frame, json.loads(line))
            finally:
                os._exit(0)  # immediately, even if an import hangs

        threading.Thread(target=read, daemon=True).start()
        await asyncio.Event().wait()

    async def _work(self, number: int, job: Job, loading: asyncio.Future[Any]) -> None:
        try:
            async with aclosing(self._run_job(job, loading)) as events:
                async for event in events:
                    self._send(number, {"event": msgspec.to_builtins(event)})
        except asyncio.CancelledError:
            self._send(number, {"event": None})
        except Exception as error:  # noqa: BLE001 -- without a last event, the program would wait forever
            reason = f"The model's process failed ({type(error).__name__})"
            failure = ModelFailure(reason=reason, advice="Ask again, or choose another model with --model.")
            self._send(number, {"event": msgspec.to_builtins(failure)})

    async def _run_job(self, job: Job, loading: asyncio.Future[Any]) -> AsyncGenerator[JobEvent, None]:
        try:
            litellm = await asyncio.shield(loading)
        except Exception as error:  # noqa: BLE001 -- an import may fail in any way
            detail = shorten(sanitise_line(redact_secrets(str(error), self._environ)), 200)
            reason = f"The Python package litellm cannot be loaded ({detail})"
            yield ModelFailure(reason=reason, advice="Install roamtui again.")
            return
        received = ReceivedReply(is_stream=job.operation == "complete")
        current_reply.set(received)
        resolved = resolve_model(litellm, job, self._environ)
        if resolved is None:
            examples = _EMBEDDER_EXAMPLES if job.operation == "embed" else _MODEL_EXAMPLES
            name = shorten(sanitise_line(job.model), 80)
            reason = f'"{name}" does not start with a provider that roamtui knows'
            yield ModelFailure(reason=reason, advice=f"Write provider/model, such as {examples}.")
        elif job.operation == "describe":
            yield await self._ask_about(resolved, job.options)
        elif (failure := resolved.missing_key_failure) is not None:
            yield failure
        else:
            try:
                if job.operation == "embed":
                    yield await compute_vectors(litellm, job, resolved)
                    return
                completion = stream_completion(litellm, job, resolved, received)
                async with aclosing(completion), aclosing(mask_keys(completion, self._keys)) as events:
                    async for event in events:
                        yield event
            except Exception as error:  # noqa: BLE001 -- litellm's exceptions have no common base
                yield to_failure(error, resolved, self._environ)

    async def _ask_about(self, resolved: ResolvedModel, options: ModelOptions) -> ResolvedModel:
        """Add what the person's own server says about a model. A provider's server is not asked."""
        if resolved.api_base is None:
            return resolved
        key = self._environ.get(resolved.key_variable or "")
        name = resolved.model.partition("/")[2]
        facts = ModelFacts()
        problem = ""
        try:
            facts = await fetch_model_facts(resolved.provider, resolved.api_base, name, key)
        except Exception as error:  # noqa: BLE001 -- a connection may fail in any way
            failure = to_failure(error, resolved, self._environ)
            problem = f"{failure.reason}. {failure.advice}"
        return replace(add_facts(resolved, facts, options), problem=problem)

    def _send(self, number: int, frame: Mapping[str, object]) -> None:
        # os.write blocks while the pipe is full, which stops all jobs until the program reads again.
        write_all(self._events_output, encode_frame({"id": number, **frame}))


def _load_litellm() -> Any:  # noqa: ANN401 -- nothing in this program depends on its types
    litellm: Any = importlib.import_module("litellm")
    restrict_clients()
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Some servers number their calls, which litellm would refuse and leave out.
    call_type = litellm.types.utils.ChatCompletionDeltaToolCall
    call_type.model_config["coerce_numbers_to_str"] = True
    call_type.model_rebuild(force=True)
    litellm.disable_hf_tokenizer_download = True  # for some models, it would ask huggingface.co how to count
    return litellm


def resolve_model(litellm: Any, job: Job, environ: Mapping[str, str]) -> ResolvedModel | None:  # noqa: ANN401
    """Find out about the model of a job without asking a server. Return None if its name is unknown."""
    model = job.model
    if model.startswith("ollama/"):
        # litellm's plain "ollama" provider emulates tool calls with JSON in the prompt, and then replies only
        # in JSON.
        model = f"ollama_chat/{model.removeprefix('ollama/')}"
    try:
        provider = str(litellm.get_llm_provider(model)[1])
    except Exception:  # noqa: BLE001 -- litellm's exceptions have no common base
        return None
    is_ollama = provider == "ollama_chat"
    info: dict[str, Any] = {}
    if not is_ollama:  # litellm would ask the server, and wait for it
        with suppress(Exception):  # litellm raises a bare Exception for a model that it does not know
            info = dict(litellm.get_model_info(model))
    key_variable = get_key_variable(provider, environ)
    known = PROVIDERS.get(provider)
    if known is not None and known.key_variables:
        missing_keys = () if key_variable else known.key_variables[:1]
    else:
        # Cloud providers also take profiles and tokens from files, which litellm's own check does not see.
        missing = litellm.validate_environment(model)["missing_keys"]
        missing_keys = tuple(missing) if all(name.endswith("_API_KEY") for name in missing) else ()
    server = get_server(provider)
    variables = (server.variable,) if server else _BASE_URL_VARIABLES.get(provider, ())
    bases = [environ[name].strip() for name in variables if environ.get(name, "").strip()]
    bases += [server.default_url] if server else []
    api_base = job.api_base or next(iter(bases), "")
    # a conversation keeps the URL without keys, which the environment may have
    api_base = next((base for base in bases if strip_keys(base, environ) == api_base), api_base)
    api_base = complete_url(api_base, provider) if api_base else ""
    parameters = litellm.get_supported_openai_params(model, custom_llm_provider=provider)
    can_call_tools = info.get("supports_function_calling")
    if parameters is not None and "tools" not in parameters:
        can_call_tools = False  # litellm would drop them silently
    return ResolvedModel(
        model=model,
        provider=provider,
        api_base=api_base or None,
        server=strip_keys(api_base, environ),
        missing_keys=missing_keys,
        key_variable=key_variable,
        window_tokens=job.options.window_tokens
        or (OLLAMA_WINDOW_TOKENS if is_ollama else info.get("max_input_tokens")),
        window_note="set by window_tokens" if job.options.window_tokens else "",
        can_call_tools=can_call_tools,
        prices=(0.0, 0.0) if server else read_prices(info),
    )


def read_prices(info: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the prices of a token that is sent and of one of the reply, by litellm's table.

    Return None if they are unknown. The table has 0 for many models whose prices nobody has entered.
    """
    sent = info.get("input_cost_per_token")
    received = info.get("output_cost_per_token")
    if sent is None or not (sent or received):
        return None
    return sent, sent if received is None else received


def add_facts(resolved: ResolvedModel, facts: ModelFacts, options: ModelOptions) -> ResolvedModel:
    """Decide a model's window and tools from what its server says."""
    can_call_tools = resolved.can_call_tools if facts.can_call_tools is None else facts.can_call_tools
    resolved = replace(resolved, can_call_tools=can_call_tools, parameters=facts.parameters)
    if options.window_tokens is not None:
        return resolved
    if facts.window_tokens is not None:
        return replace(resolved, window_tokens=facts.window_tokens, window_note=facts.window_note)
    if resolved.window_tokens is None and is_loopback(resolved.api_base or ""):
        note = "assumed, because the server does not say it: window_tokens in config.toml sets it"
        return replace(
            resolved, window_tokens=ASSUMED_WINDOW_TOKENS, window_note=note, is_window_assumed=True
        )
    return resolved


def prepare_environment(environ: MutableMapping[str, str]) -> None:
    """Set litellm's variables, remove empty keys, which it would use, and bypass proxies on this machine."""
    environ.update(_LITELLM_VARIABLES)
    environ.pop("LITELLM_LOG", None)
    for name in [name for name, value in environ.items() if name.endswith("_API_KEY") and not value.strip()]:
        del environ[name]
    for name in ("NO_PROXY", "no_proxy"):
        environ[name] = ",".join(filter(None, (environ.get(name), "localhost", "127.0.0.1", "::1")))


def claim_stdio() -> tuple[BinaryIO, int]:
    """Return the standard input and output, and leave the null device to libraries in their place."""
    jobs_input = os.fdopen(os.dup(0), "rb")
    events_output = os.dup(1)
    null_device = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null_device, standard)
    return jobs_input, events_output


def main() -> None:
    """Run the process until its input ends."""
    jobs_input, events_output = claim_stdio()
    prepare_environment(os.environ)
    try:
        asyncio.run(LitellmWorker(jobs_input, events_output, os.environ).run())
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
