"""Extraction: from a handful of hand-made traces to sentences that generalise, each with its episodes."""

import pytest

from skillhub.curation.align import align, nodes, parsed
from skillhub.curation.extract import extract, extract_rules
from skillhub.curation.phrases import Move, parse
from skillhub.curation.template import fill, learn_template
from skillhub.documents import parse as parse_document
from skillhub.documents.sections import sentences
from skillhub.rollouts.trace import Trace, TraceStep


def trace(number: int, task: str, *steps: tuple[str, str] | str, score: float = 1.0, slice_: str = "sorting") -> Trace:
    """Each step is an action, or (what was seen, action)."""
    pairs = [s if isinstance(s, tuple) else ("", s) for s in steps]
    turns = tuple(TraceStep(seen, action) for seen, action in pairs)
    return Trace(f"e{number}", task, slice_, turns, score, score >= 1.0)


def fetch(number: int, thing: str, box: str) -> Trace:
    task = f"Put the {thing} into the {box} box."
    return trace(number, task, "look around", "open door to shed", f"pick up {thing}", f"move {thing} to {box} box")


def steps_of(document: str) -> list[str]:
    return [line.split(". ", 1)[1] for line in document.split("## Steps")[1].splitlines() if line[:1].isdigit()]


def test_an_action_is_cut_into_verb_and_things():
    assert parse("move red cup in inventory to the box").args == ("red cup", "box")
    assert parse("pick up egg moth egg").args == ("egg moth",)
    assert parse("turn off the stove") == Move("turn off", ("stove",))


def test_what_varies_in_the_task_text_becomes_a_slot_with_its_value():
    template = learn_template(["Put the fork into the red box.", "Put the tin cup into the blue box."])
    assert template.text() == "Put the {thing} into the {box} box."
    assert template.match("Put the old hat into the green box.") == {"thing": "old hat", "box": "green"}
    assert template.match("Sing a song of sixpence tonight, please.") is None


def test_a_slot_survives_other_words_around_it():
    template = learn_template(["Turn on the red lamp. Then sit down here.", "Turn on the blue lamp. Then sit down here."])
    values = template.match("Turn on the buzzer. Then sit down here.")
    assert fill("Look at the {lamp} lamp.", values) == "Look at the buzzer."


def test_alignment_drops_looking_about_and_folds_repeats():
    episode = trace(1, "t", "look around", "go to a", "go to b", "stir pot", "stir pot", "stir pot", "pick up pot")
    found = nodes(episode, parsed(episode))
    assert [(n.verb, n.count) for n in found] == [("go to", 1), ("repeat", 3), ("pick up", 1)]


def test_alignment_keeps_order_and_puts_detours_in_columns_of_their_own():
    plain = trace(1, "t", "pick up cup", "move cup to box")
    detour = trace(2, "t", "pick up cup", "eat apple", "move cup to box")
    columns = align([nodes(t, parsed(t)) for t in (plain, detour)])
    assert [sorted(c) for c in columns] == [[0, 1], [1], [0, 1]]


def test_steps_name_slots_and_not_the_values_of_one_episode():
    [skill] = extract([fetch(1, "fork", "red"), fetch(2, "tin cup", "blue"), fetch(3, "hat", "green")])
    assert steps_of(skill.document) == ["Pick up the {thing}.", "Move the {thing} to the {box} box."]


def test_a_choice_keeps_its_name_in_later_steps_and_lists_what_won_first():
    sight = "a ant\na crow\na tortoise"
    picks = [("tortoise", sight), ("crow", "a ant\na crow"), ("tortoise", "a crow\na tortoise"), ("ant", "a ant")]
    episodes = [trace(i, "Find one.", (seen, f"focus on {a}"), f"pick up {a}") for i, (a, seen) in enumerate(picks)]
    [skill] = extract(episodes)
    first, second = steps_of(skill.document)
    assert first == "Focus on {target}, where {target} is the first of these in sight: tortoise, crow, ant."
    assert second == "Pick up {target}."


def test_a_choice_that_the_task_text_decides_becomes_a_table():
    recipe = {"green": "blue", "orange": "red"}
    tasks = [(i, c) for i, c in enumerate(["green", "orange", "green", "orange"])]
    episodes = [trace(i, f"Mix {c} paint.", f"pour {recipe[c]} into cup") for i, c in tasks]
    [step] = steps_of(extract(episodes)[0].document)
    assert "blue when {paint} is green" in step and "red when {paint} is orange" in step


def reading(number: int, value: float, limit: float) -> Trace:
    box = "red" if value > limit else "blue"
    task = f"Measure the soup. If the heat is above {limit} degrees, use the red box. "
    task += f"If the heat is below {limit} degrees, use the blue box. Go on with lid {number}."
    first, second = ("red", "blue") if number % 2 else ("green", "pink")
    task = task.replace("red", first).replace("blue", second)
    box = first if value > limit else second
    return trace(number, task, "use probe on soup", (f"It reads {value} degrees.", f"move soup to {box} box"))


def test_a_number_read_against_a_bound_of_the_task_becomes_a_condition():
    episodes = [reading(1, 80.0, 50.0), reading(2, 20.0, 50.0), reading(3, 9.0, 10.0), reading(4, 12.0, 10.0)]
    last = steps_of(extract(episodes)[0].document)[-1]
    assert last.startswith("If the last reading is ") and "; otherwise, move the soup" in last


def test_what_ended_failed_episodes_becomes_a_caution():
    won = [fetch(1, "fork", "red"), fetch(2, "hat", "blue")]
    lost = [
        trace(i, f"Put the {t} into the red box.", f"pick up {t}", f"eat {t}", score=0.0) for i, t in ((8, "pear"), (9, "fork"))
    ]
    [skill] = extract(won, lost)
    [caution] = [c for c in skill.claims if c.anchor == "cautions"]
    assert caution.text == "Do not eat the {thing}: it ended 2 failed episodes."
    assert caution.episode_ids == ("e8", "e9")


def test_every_sentence_of_a_document_is_a_claim_with_episodes():
    [skill] = extract([fetch(1, "fork", "red"), fetch(2, "tin cup", "blue"), fetch(3, "hat", "green")])
    said = {(line.anchor, line.text) for line in sentences(parse_document(skill.document))}
    assert {anchor for anchor, _ in said} == {"task", "steps"}
    assert said == {(claim.anchor, claim.text) for claim in skill.claims}
    assert all(set(c.episode_ids) <= {"e1", "e2", "e3"} and c.episode_ids for c in skill.claims)


def test_a_rule_needs_three_episodes_of_two_kinds():
    def kind(number: int, slice_: str) -> Trace:
        return trace(number, f"Task {slice_}.", "wash plate", "dry plate", slice_=slice_)

    assert extract_rules([kind(1, "a"), kind(2, "b")]) == []
    [rule] = extract_rules([kind(1, "a"), kind(2, "b"), kind(3, "b")])
    assert rule.document.endswith("- When you are about to dry a thing, first wash that thing.\n")


@pytest.mark.parametrize("turn", [1, -1])
def test_the_same_traces_in_any_order_give_the_same_drafts(turn):
    episodes = [fetch(1, "fork", "red"), fetch(2, "tin cup", "blue"), fetch(3, "hat", "green")]
    assert extract(episodes[::turn]) == extract(episodes)


def test_a_step_taken_only_for_one_value_of_a_slot_says_so():
    tasks = [(i, n) for i, n in enumerate([3, 4, 3, 4])]
    middle = {3: (), 4: ("focus on pupa",)}
    episodes = [trace(i, f"Show the {n} stages.", "focus on egg", *middle[n], "focus on moth") for i, n in tasks]
    assert steps_of(extract(episodes)[0].document)[1] == "If {number} is 4, focus on the pupa."


def cooking(number: int, dish: str, parts: list[str]) -> Trace:
    recipe = f"The card says: to make {dish}, you need to mix {', '.join(parts)}."
    solid = [act for p in parts if p != "water" for act in (f"pick up {p}", f"move {p} to bowl")]
    steps = ["read card", (recipe, "open box"), *solid, *(["fill bowl"] if "water" in parts else []), "mix bowl"]
    return trace(number, f"Make '{dish}'.", *steps)


def test_what_an_episode_read_becomes_a_step_for_each_thing_named_and_a_condition():
    dishes = {
        "syrup": ["sugar", "water"],
        "salad": ["leek", "beet"],
        "brine": ["salt", "water"],
        "mash": ["pea", "yam"],
    }
    episodes = [cooking(i, dish, parts) for i, (dish, parts) in enumerate(dishes.items())]
    steps = steps_of(extract(episodes)[0].document)
    assert steps[2] == (
        'For each {item} named after "mix" in what you read, except water: pick up the {item}; move the {item} to the bowl.'
    )
    assert steps[3] == 'If you read "water", fill the bowl.'
