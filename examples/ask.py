"""Asks a document a question: `python examples/ask.py examples/handbook.md "When is it open?"`."""

import asyncio
import sys

import roamtui


async def ask(source: str, question: str, model: str = "offline") -> None:
    library = roamtui.open_library([source])
    print(roamtui.render_outline(library, budget_tokens=200))

    def show_opened(event: roamtui.ConversationEvent) -> None:
        if isinstance(event, roamtui.SectionsOpened):
            titles = (library.node(section_id).title for section_id in event.opened_ids)
            print("opened:", *titles, sep="\n  ")

    conversation = roamtui.Conversation(library)
    conversation.subscribe(show_opened)
    searcher = roamtui.make_searcher(library, roamtui.RetrievalOptions())
    agent = roamtui.Agent(conversation, roamtui.make_model(model), searcher)
    if exchange := await agent.ask(question):
        print(exchange.answer)
        for citation in exchange.citations:
            print(f"[{citation.section_id}] {citation.place}: {citation.state.value}: {citation.quote}")
    await agent.model.close()


asyncio.run(ask(*sys.argv[1:4]))
